/**
 * Who may ask the service. A token is 256 random bits that are shown once; the store has its SHA-256, which for random bits is
 * as good as a slow hash. What a sender uploads is counted by hour and limited.
 */
import { createHash, randomBytes } from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';
import { type IndexDatabase, iso } from '../index/database.ts';
import type { Right } from './protocol.ts';

export interface TokenLimits {
  bundlesPerHour: number;
  bytesPerHour: number;
}

export interface Token extends TokenLimits {
  name: string;
  may: Right;
}

export interface ListedToken extends Token {
  /** ISO 8601 UTC. */
  madeAt: string;
  revokedAt?: string;
  /** Uploads since it was made. */
  bundles: number;
  bytes: number;
}

export const usualLimits: TokenLimits = { bundlesPerHour: 1000, bytesPerHour: 10 * 1024 ** 3 };
const prefix = 'adt_';

/** Returns the token, which is not stored. Throws `usage` if a valid token has the name, or if it is no name. */
export async function makeToken(
  { query }: IndexDatabase,
  { name, may, bundlesPerHour, bytesPerHour }: Token,
): Promise<string> {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new AgentdumpError('usage', `${name}: a name has up to 64 letters, digits, dots and dashes`, {
      argument: 'name',
    });
  const secret = `${prefix}${randomBytes(32).toString('base64url')}`;
  const rows = await query(
    `insert into agentdump_tokens as known (name, hash, may, bundles_per_hour, bytes_per_hour) values ($1, $2, $3, $4, $5)
     on conflict (name) do update set hash = excluded.hash, may = excluded.may, bundles_per_hour = excluded.bundles_per_hour,
       bytes_per_hour = excluded.bytes_per_hour, made_at = now(), revoked_at = null, bundles = 0, bytes = 0
       where known.revoked_at is not null or known.hash = excluded.hash
     returning name`,
    [name, hashOf(secret), may, bundlesPerHour, bytesPerHour],
  );
  if (rows.length === 0)
    throw new AgentdumpError('usage', `there is a token ${name} already: revoke it, or choose another name`, {
      argument: 'name',
    });
  return secret;
}

/** Undefined for a token that was never made, or was revoked. */
export async function findToken({ query }: IndexDatabase, secret: string): Promise<Token | undefined> {
  if (!secret.startsWith(prefix) || secret.length > 100) return undefined;
  const [found] = await query<Token>(
    `select name, may, bundles_per_hour as "bundlesPerHour", bytes_per_hour::double precision as "bytesPerHour"
     from agentdump_tokens where hash = $1 and revoked_at is null`,
    [hashOf(secret)],
  );
  return found;
}

export function listTokens({ query }: IndexDatabase): Promise<ListedToken[]> {
  return query<ListedToken & { revokedAt: string | null }>(
    `select name, may, bundles_per_hour as "bundlesPerHour", bytes_per_hour::double precision as "bytesPerHour",
       ${iso('made_at')} as "madeAt", ${iso('revoked_at')} as "revokedAt",
       bundles::double precision as bundles, bytes::double precision as bytes
     from agentdump_tokens order by name`,
  ).then((rows) =>
    rows.map(({ revokedAt, ...row }) => ({ ...row, ...(revokedAt !== null && { revokedAt }) })),
  );
}

/** Throws `not-found`. */
export async function revokeToken({ query }: IndexDatabase, name: string): Promise<void> {
  const text =
    'update agentdump_tokens set revoked_at = now() where name = $1 and revoked_at is null returning name';
  if ((await query(text, [name])).length === 0)
    throw new AgentdumpError('not-found', `there is no valid token ${name}`, { name });
}

/**
 * Counts an upload before it begins. Returns false if the limit of this hour is reached. Rows of earlier hours are removed: what
 * they added up to is in the token.
 */
export async function claimUpload(
  { query }: IndexDatabase,
  { name, bundlesPerHour, bytesPerHour }: Token,
  bytes: number,
): Promise<boolean> {
  const rows = await query(
    `with gone as (
       delete from agentdump_uploads where token = $1 and hour < date_trunc('hour', now(), 'UTC')),
     claimed as (
       insert into agentdump_uploads as used (token, hour, bundles, bytes)
       select $1, date_trunc('hour', now(), 'UTC'), 1, $2::bigint where $2::bigint <= $4::bigint
       on conflict (token, hour) do update set bundles = used.bundles + 1, bytes = used.bytes + excluded.bytes
         where used.bundles < $3::integer and used.bytes + excluded.bytes <= $4::bigint
       returning token)
     update agentdump_tokens as known set bundles = known.bundles + 1, bytes = known.bytes + $2::bigint
     from claimed where known.name = claimed.token returning known.name`,
    [name, bytes, bundlesPerHour, bytesPerHour],
  );
  return rows.length > 0;
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
