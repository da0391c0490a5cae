/** Reads what a client sent: untrusted, limited in size, checked field by field. Throws `usage`. */

import type { IncomingMessage } from 'node:http';
import type { CountedStarts } from '../../bundle/keep/starts.ts';
import { AgentdumpError } from '../../errors.ts';
import type { Decision } from '../../model/fleet/issue.ts';
import { clean } from '../grouping/death.ts';
import { mostJsonBytes, type Offer } from './protocol.ts';

const jsonMs = 60_000;

export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // A client that sends a few bytes each minute would hold its connection for ever.
  const late = setTimeout(() => request.destroy(), jsonMs);
  request.once('close', () => clearTimeout(late));
  // Leaving the loop must not close the connection, which the answer needs.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostJsonBytes)
      throw new AgentdumpError('over-limit', `a request has more than ${mostJsonBytes} bytes`, {
        limit: 'request',
        allowed: mostJsonBytes,
      });
    chunks.push(chunk);
  }
  clearTimeout(late);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw invalid('the request', 'JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('the request', 'an object');
  return value as Record<string, unknown>;
}

export function readOffer(fields: Record<string, unknown>): Offer {
  const { sha256, bytes, name, bundle, digest, startedAs } = fields;
  if (!isHex(sha256, 64)) throw invalid('sha256', '64 hexadecimal digits');
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 1)
    throw invalid('bytes', 'a count');
  if (typeof name !== 'string' || name.length > 255 || /[/\\\0-\x1f\x7f-\x9f]/.test(name))
    throw invalid('name', 'a file name');
  if (startedAs !== undefined && !isName(startedAs)) throw invalid('startedAs', 'a program');
  const file = { sha256, bytes, name, ...(startedAs !== undefined && { startedAs }) };
  if (bundle === undefined) return file;
  if (!isHex(bundle, 16)) throw invalid('bundle', '16 hexadecimal digits');
  if (!isHex(digest, 64)) throw invalid('digest', '64 hexadecimal digits');
  return { ...file, bundle, digest };
}

const mostStartsADay = 1_000_000;

/** @throws nothing for a row without the form: it does not keep the others from being counted. */
export function readStartsReport({ starts }: Record<string, unknown>): {
  starts: CountedStarts[];
  refusal?: AgentdumpError;
} {
  if (!Array.isArray(starts)) throw invalid('starts', 'a list');
  const read = starts.map(readCounted);
  const refusal = read.find((one) => one instanceof AgentdumpError);
  return {
    starts: read.flatMap((one) => (one instanceof AgentdumpError ? [] : [one])),
    ...(refusal && { refusal }),
  };
}

function readCounted(row: Record<string, unknown> | null): CountedStarts | AgentdumpError {
  const { log, day, program, host, count, isAtLeast } = row ?? {};
  if (!isHex(log, 16)) return invalid('log', '16 hexadecimal digits');
  if (!isDay(day)) return invalid('day', 'a day');
  if (!isName(program)) return invalid('program', 'a program');
  if (!isName(host)) return invalid('host', 'a host');
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < (isAtLeast ? 0 : 1))
    return invalid('count', 'a count');
  const isMore = isAtLeast === true || count > mostStartsADay;
  const counted = { log, day, program, host, count: Math.min(count, mostStartsADay) };
  return { ...counted, ...(isMore && { isAtLeast: true }) };
}

/** Of the calendar, too: a database refuses the 30th of February. */
function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const ms = Date.parse(value);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
}

export interface AskedUpload {
  sha256: string;
  bytes: number;
  name: string;
  offset: number;
  startedAs?: string;
}

/** The offer's fields again, so that the service need not remember them. */
export function readUpload(sha256: string, query: URLSearchParams, offsetText: string): AskedUpload {
  const offset = Number(offsetText);
  const offer = readOffer({
    sha256,
    bytes: Number(query.get('bytes')),
    name: query.get('name'),
    startedAs: query.get('startedAs') ?? undefined,
  });
  if (!Number.isSafeInteger(offset) || offset < 0 || offset > offer.bytes)
    throw invalid('the offset', 'a position');
  return { ...offer, offset };
}

export function readDecision(id: string, { action, release, others }: Record<string, unknown>): Decision {
  switch (action) {
    case 'resolve':
      if (release === undefined) return { action, id };
      if (typeof release !== 'string' || clean(release) !== release) throw invalid('release', 'a release');
      return { action, id, release };
    case 'ignore':
    case 'reopen':
    case 'split':
      return { action, id };
    case 'merge':
      if (!Array.isArray(others) || others.length === 0 || !others.every((one) => typeof one === 'string'))
        throw invalid('others', 'a list of issues');
      return { action, id, others };
    default:
      throw invalid('action', 'resolve, ignore, reopen, merge or split');
  }
}

/** As the index keeps it. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && clean(value) === value;

const isHex = (value: unknown, digits: number): value is string =>
  typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value);

const invalid = (field: string, wanted: string) =>
  new AgentdumpError('usage', `${field} is not ${wanted}`, { argument: field });
