/**
 * Compares a run with an earlier one whose summary is in a folder: signatures that are new, repeated or gone, handles that
 * are open at the end of a process and were not before, and heaps that have grown.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import {
  type CiDifference,
  type CiProcess,
  type CiSummary,
  ciSummarySchema,
} from '../../model/ci-summary.ts';
import { shortenPath } from './summarize.ts';

const fileName = 'summary.json';
const largestSummary = 64 * 1024 * 1024;
/** Growth below either limit is normal between runs. */
const tellingGrowth = { share: 0.25, bytes: 8 * 1024 ** 2 };
/** Handles whose number depends on the moment at which the process ends. */
const fleeting = new Set(['TickObject', 'Immediate', 'CloseReq', 'FSReqCallback', 'FSReqPromise', 'PROMISE']);

/** Undefined if the folder has no summary. Throws MalformedInput for an invalid one. */
export function readBaseline(folder: string): CiSummary | undefined {
  const path = join(folder, fileName);
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? parseSummary(path, stat.size) : undefined;
}

/** Throws `not-found` if the folder has no summary. */
export function requireSummary(folder: string): CiSummary {
  const summary = readBaseline(folder);
  if (!summary)
    throw new AgentdumpError('not-found', `${folder} contains no ${fileName} of a run`, { path: folder });
  return summary;
}

function parseSummary(path: string, bytes: number): CiSummary {
  const fail = (field: string, wanted: string): never => {
    throw new MalformedInput(`${path} is not the summary of a run: its ${field} is not ${wanted}`, {
      format: 'ci-summary',
      field,
      wanted,
    });
  };
  if (bytes > largestSummary) fail('size', `at most ${largestSummary} bytes`);
  let value: Partial<CiSummary> | null = null;
  try {
    value = JSON.parse(readFileSync(path, 'utf8')) as Partial<CiSummary> | null;
  } catch {
    fail('text', 'JSON');
  }
  if (value?.schema !== ciSummarySchema) fail('schema', ciSummarySchema);
  for (const field of ['bundles', 'processes'] as const)
    if (!isListOfObjects(value?.[field] ?? [])) fail(field, 'a list of objects');
  if (!value?.bundles) fail('bundles', 'a list of objects');
  for (const { name, title, signature } of value?.bundles ?? [])
    if (![name, title, signature].every(isText)) fail('bundles', 'named by texts');
  for (const { entry, handles } of value?.processes ?? [])
    if (typeof entry !== 'string' || !isCounts(handles)) fail('processes', 'named by texts, with counts');
  return value as CiSummary;
}

function isListOfObjects(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))
  );
}

const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';

const isCounts = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((count) => typeof count === 'number'));

export function writeBaseline(folder: string, summary: CiSummary): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, fileName), `${JSON.stringify(summary, undefined, 2)}\n`);
}

/** Pure. */
export function compareWithBaseline(folder: string, before: CiSummary, after: CiSummary): CiDifference {
  const known = signaturesOf(before);
  const seen = signaturesOf(after);
  const pairs = pairUp(before.processes ?? [], after.processes ?? []);
  return {
    against: shortenPath(folder),
    signatures: [
      ...[...seen].map(([id, title]) => ({
        id,
        title,
        state: known.has(id) ? ('again' as const) : ('first' as const),
      })),
      ...[...known].flatMap(([id, title]) => (seen.has(id) ? [] : [{ id, title, state: 'gone' as const }])),
    ],
    handles: pairs.flatMap(([then, now]) => compareHandles(then, now)),
    memory: pairs.flatMap(([then, now]) => compareMemory(then, now)),
  };
}

function signaturesOf({ bundles }: CiSummary): Map<string, string> {
  return new Map(
    bundles.flatMap(({ signature, title = '' }) =>
      signature === undefined ? [] : [[signature, title] as const],
    ),
  );
}

/** Matches processes by their entry, and those with the same entry by their order. */
function pairUp(before: readonly CiProcess[], after: readonly CiProcess[]): [CiProcess, CiProcess][] {
  const waiting = new Map<string, CiProcess[]>();
  for (const one of before) waiting.set(one.entry, [...(waiting.get(one.entry) ?? []), one]);
  return after.flatMap((now) => {
    const then = waiting.get(now.entry)?.shift();
    return then ? [[then, now] as [CiProcess, CiProcess]] : [];
  });
}

function compareHandles(then: CiProcess, now: CiProcess): CiDifference['handles'] {
  if (!then.handles || !now.handles) return [];
  return Object.entries(now.handles).flatMap(([kind, after]) => {
    const before = then.handles?.[kind] ?? 0;
    return after > before && !fleeting.has(kind) ? [{ entry: now.entry, kind, before, after }] : [];
  });
}

function compareMemory(then: CiProcess, now: CiProcess): CiDifference['memory'] {
  const before = then.heapUsedBytes;
  const after = now.heapUsedBytes;
  if (before === undefined || after === undefined) return [];
  const growth = after - before;
  if (growth < tellingGrowth.bytes || growth < before * tellingGrowth.share) return [];
  return [{ entry: now.entry, beforeBytes: before, afterBytes: after }];
}
