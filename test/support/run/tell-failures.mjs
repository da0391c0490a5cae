// A reporter of node:test beside the TAP: each failed test, when it fails, as one block with its name, place and reason. A
// mark stands before each block, because the file's own output goes the same way.
import { inspect } from 'node:util';

export const mark = '\u0002failed test\u0003';
export const end = '\u0004';

export default async function* tellFailures(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || isParent(data)) continue;
    yield `${mark}${JSON.stringify(describe(data))}${end}`;
  }
}

/** A suite that failed only by a test inside of it, which was told. */
const isParent = ({ details }) => details?.error?.failureType === 'subtestsFailed';

/** Where it failed, by the stack: `line` of a file that was compiled on its way is not the source's. */
function placeIn(file, stack) {
  const frame = stack.split('\n').find((line) => file !== undefined && line.includes(file));
  return frame && /((?:file:\/\/)?\/[^()]*:\d+:\d+)/.exec(frame)?.[1];
}

function describe({ name, file, line, column, details }) {
  const error = details?.error?.cause ?? details?.error;
  const reason = error instanceof Error ? (error.stack ?? error.message) : inspect(error);
  const place = placeIn(file, reason) ?? (file && `${file}:${line}:${column}`);
  return { name, place, reason: String(reason) };
}
