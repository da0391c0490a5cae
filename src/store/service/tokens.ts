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

/** Returns the token, which is not stored. Throws `usage` if the name is taken or no name. */
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
    `insert into agentdump_tokens (name, hash, may, bundles_per_hour, bytes_per_hour) values ($1, $2, $3, $4, $5)
     on conflict (name) do nothing returning name`,
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
       coalesce((select sum(bundles) from agentdump_uploads where token = name), 0)::integer as bundles,
       coalesce((select sum(bytes) from agentdump_uploads where token = name), 0)::double precision as bytes
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

/** Counts an upload before it begins. Returns false if the limit of this hour is reached. */
export async function claimUpload(
  { query }: IndexDatabase,
  { name, bundlesPerHour, bytesPerHour }: Token,
  bytes: number,
): Promise<boolean> {
  const rows = await query(
    `insert into agentdump_uploads as used (token, hour, bundles, bytes) values ($1, date_trunc('hour', now(), 'UTC'), 1, $2)
     on conflict (token, hour) do update set bundles = used.bundles + 1, bytes = used.bytes + excluded.bytes
       where used.bundles < $3 and used.bytes + excluded.bytes <= $4
     returning bundles`,
    [name, bytes, bundlesPerHour, bytesPerHour],
  );
  return rows.length > 0;
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
