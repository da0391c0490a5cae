/** Where Node stopped to read a module: V8 writes file, line and text above the stack, and a mark below what it means. */
import type { SerializedError } from '../../bundle/layout/bundle.ts';

const header = /^((?:file:\/\/|\/|[A-Za-z]:\\)[^\n]+):(\d+)\n[^\n]*\n( *)\^/;

/** As a line of a stack; undefined for any other error. */
export function unreadPlace(error: SerializedError | undefined): string | undefined {
  if (error?.name !== 'SyntaxError') return undefined;
  const [, file, line, before] = header.exec(error.stack?.slice(0, 5000) ?? '') ?? [];
  return before === undefined ? undefined : `    at ${file}:${line}:${before.length + 1}`;
}
