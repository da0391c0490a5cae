/**
 * Observes what is written to a pipe, socket or terminal, at its native handle: Node creates the errors of a write after the
 * handle has returned, and no code of the program runs meanwhile, so that nothing of ours is on a stack that it sees. Only on
 * this one handle, and not enumerable.
 */
export type Handle = Record<string, unknown>;
type Write = (this: unknown, request: unknown, data: unknown, allBuffers?: unknown) => unknown;

const { apply, defineProperty } = Reflect;
const methods = [
  'writeUtf8String',
  'writeLatin1String',
  'writeAsciiString',
  'writeUcs2String',
  'writeBuffer',
];

/** Undefined if the stream is not written through such a handle (a file is not). */
export function findHandle(stream: unknown): Handle | undefined {
  const handle = (stream as { _handle?: Handle } | undefined)?._handle;
  return typeof handle?.['writeUtf8String'] === 'function' ? handle : undefined;
}

/** `see` is called with each string or buffer before it is written, `fail` with the number of an error. Neither may throw. */
export function seeWrites(
  handle: Handle,
  see: (piece: unknown) => void,
  fail: (errno: number) => void = () => {},
): void {
  for (let at = 0; at < methods.length; at++) shadow(handle, methods[at] as string, see, fail);
  const seeAll = (data: unknown, allBuffers: unknown): void => {
    const pieces = data as unknown[];
    for (let i = 0; i < pieces.length; i += allBuffers === true ? 1 : 2) see(pieces[i]);
  };
  shadow(handle, 'writev', seeAll, fail);
}

function shadow(
  handle: Handle,
  method: string,
  see: (data: unknown, allBuffers: unknown) => void,
  fail: (errno: number) => void,
): void {
  const original = handle[method];
  if (typeof original !== 'function') return;
  const value: Write = function (request, data, allBuffers) {
    see(data, allBuffers);
    const result: unknown = apply(original, this, [request, data, allBuffers]);
    if (typeof result === 'number' && result < 0) fail(result);
    return result;
  };
  defineProperty(handle, method, { value, configurable: true, writable: true, enumerable: false });
}
