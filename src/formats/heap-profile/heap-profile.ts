/**
 * V8's sampled allocation profiles, `.heapprofile`, as written by `node --heap-prof` and the inspector's sampling. A tree of
 * calls, each with the bytes that it allocated and that were alive when the profile was taken, estimated from samples.
 * Source: Chrome DevTools Protocol, HeapProfiler.SamplingHeapProfile; V8 `src/inspector/v8-heap-profiler-agent-impl.cc`.
 */
import { AgentdumpError, MalformedInput } from '../../errors.ts';

export interface ProfiledCall {
  function: string;
  /** URL or path; empty for code that is not JavaScript. */
  script: string;
  /** 1-based line where the function begins; 0 if unknown. */
  line: number;
  column: number;
  /** Allocated by this function itself. */
  bytes: number;
  /** Row of the caller, always a smaller one; -1 at the root. */
  parent: number;
}

export interface HeapProfile {
  /** The root is first; it is not a function. */
  calls: ProfiledCall[];
  sampledBytes: number;
}

export const largestProfileBytes = 256 * 1024 * 1024;
/** V8 keeps stacks of 16 to 128 frames, so profiles of real programs have about ten thousand calls. */
const mostCalls = 2_000_000;
const longestName = 2000;

/** Whether a file that begins with these bytes is a sampled profile. */
export function isHeapProfile(head: Uint8Array): boolean {
  return /^\uFEFF?\s*\{\s*"(?:head|samples)"\s*:/.test(Buffer.from(head.subarray(0, 100)).toString());
}

/**
 * @param bytes the JSON, not compressed.
 * @throws MalformedInput if it is not a profile, `over-limit` if it is too large.
 */
export function readHeapProfile(bytes: Uint8Array): HeapProfile {
  if (bytes.length > largestProfileBytes) throw overLimit('bytes', bytes.length, largestProfileBytes);
  const head = objectIn(parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()), 'head');
  if (!head) throw malformed('head', 'the root of a call tree');
  const calls: ProfiledCall[] = [];
  let sampledBytes = 0;
  const open: [node: Json, parent: number][] = [[head, -1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, parent] = next;
    if (calls.length >= mostCalls) throw overLimit('calls', calls.length + open.length + 1, mostCalls);
    const call = readCall(node, parent);
    sampledBytes += call.bytes;
    const row = calls.push(call) - 1;
    const children = node['children'] ?? [];
    if (!Array.isArray(children)) throw malformed('children', 'a list');
    for (const child of [...children].reverse()) {
      if (!isObject(child)) throw malformed('children', 'a list of calls');
      open.push([child, row]);
    }
  }
  return { calls, sampledBytes };
}

/** Before Chrome 60 the fields of `callFrame` were in the call itself. */
function readCall(node: Json, parent: number): ProfiledCall {
  const frame = objectIn(node, 'callFrame') ?? node;
  const bytes = node['selfSize'];
  if (typeof bytes !== 'number' || !(bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER))
    throw malformed('selfSize', 'a number of bytes');
  return {
    function: textIn(frame, 'functionName'),
    script: textIn(frame, 'url'),
    line: positionIn(frame, 'lineNumber'),
    column: positionIn(frame, 'columnNumber'),
    bytes,
    parent,
  };
}

type Json = Readonly<Record<string, unknown>>;

function objectIn(json: unknown, name: string): Json | undefined {
  const value = isObject(json) && Object.hasOwn(json, name) ? json[name] : undefined;
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textIn(json: Json, name: string): string {
  const value = json[name];
  return typeof value === 'string' ? value.slice(0, longestName) : '';
}

/** In the protocol, numbers are 0-based, and -1 means none. */
function positionIn(json: Json, name: string): number {
  const value = json[name];
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) + 1 : 0;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw malformed('profile', 'whole JSON', cause);
  }
}

function malformed(field: string, wanted: string, cause?: unknown): MalformedInput {
  return new MalformedInput(
    `not a sampled heap profile: ${field} should be ${wanted}`,
    { format: 'heap-profile', field, wanted },
    cause,
  );
}

function overLimit(what: string, wanted: number, allowed: number): AgentdumpError {
  return new AgentdumpError('over-limit', `the profile has ${wanted} ${what}, ${allowed} is the most`, {
    limit: `heap profile ${what}`,
    wanted,
    allowed,
  });
}
