/**
 * The garbage collections that V8 lists on stderr when a heap is full: in one write, before "FATAL ERROR" and before Node's
 * report. The heading is printed by V8::FatalProcessOutOfMemory (api.cc), the lines by GCTracer (gc-tracer.cc).
 */

const heading = '<--- Last few GCs --->';
const mostBytes = 4096;
const mostLines = 3;
const collection =
  /\b(?:Scavenge|Mark-[\w-]+)(?: \([\w -]+\))? \d+\.\d \(\d+\.\d\) -> \d+\.\d \(\d+\.\d\) MB/g;

/** For example `Mark-Compact 98.5 (118.7) -> 96.5 (134.4) MB`, newest last. Undefined if the chunk contains no such list. */
export function readLastGcs(chunk: Buffer): string[] | undefined {
  const start = chunk.indexOf(heading);
  if (start < 0) return undefined;
  const text = chunk.toString('latin1', start, start + mostBytes);
  return text.match(collection)?.slice(-mostLines) ?? [];
}
