/**
 * Node's diagnostic report without what may contain a secret: only the sections listed here are kept, and all strings in them
 * are redacted. Environment, command line, network interfaces, and sections that a later Node may add are dropped.
 */
export interface ScrubbedReport {
  event: string;
  trigger: string;
  /** E.g. `v22.23.3`. */
  nodeVersion?: string;
  /** When the fatal error was reported, milliseconds since the epoch. */
  atMs?: number;
  text: string;
}

const keptSections = [
  'javascriptStack',
  'javascriptHeap',
  'nativeStack',
  'resourceUsage',
  'uvthreadResourceUsage',
  'libuv',
  'workers',
  'userLimits',
  'sharedObjects',
];
const keptHeader = [
  'reportVersion',
  'event',
  'trigger',
  'dumpEventTime',
  'dumpEventTimeStamp',
  'processId',
  'threadId',
  'nodejsVersion',
  'glibcVersionRuntime',
  'wordSize',
  'arch',
  'platform',
  'componentVersions',
  'osName',
  'osRelease',
  'osVersion',
  'osMachine',
];
const deepest = 8;

/** Undefined if it is not a report. */
export function scrubReport(report: unknown, scrub: (text: string) => string): ScrubbedReport | undefined {
  if (!isRecord(report) || !isRecord(report['header'])) return undefined;
  const kept = pick(report, keptSections, scrub);
  const header = pick(report['header'], keptHeader, scrub);
  const nodeVersion = header['nodejsVersion'];
  const atMs = Number(header['dumpEventTimeStamp'] ?? Number.NaN);
  return {
    ...(atMs > 0 && { atMs }),
    ...(typeof nodeVersion === 'string' && { nodeVersion }),
    event: String(header['event'] ?? ''),
    trigger: String(header['trigger'] ?? ''),
    text: JSON.stringify({ header, ...kept }),
  };
}

function pick(
  from: Record<string, unknown>,
  names: string[],
  scrub: (text: string) => string,
): Record<string, unknown> {
  const kept = names.filter((name) => name in from).map((name) => [name, scrubbed(from[name], scrub, 0)]);
  return Object.fromEntries(kept);
}

/** The recursion is bounded by depth; a report has five levels. */
function scrubbed(value: unknown, scrub: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return scrub(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return null;
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, scrub, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [scrub(key), scrubbed(item, scrub, depth + 1)]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
