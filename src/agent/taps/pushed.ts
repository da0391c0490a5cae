/**
 * Observes the bytes that a Readable of Node receives (a response, a pipe of a child), and their end. No listener is added, and the stream
 * does not begin to flow. `push` is shadowed by a method, which a spy can replace and which does nothing when it is read. So the
 * program's listeners have one frame of ours below them.
 */
import { shadowFirst } from './shadow.ts';

/** `see` is called with each chunk, and with null at the end. */
export function seePushed(stream: object, see: (chunk: Uint8Array | null) => void): void {
  shadowFirst(stream, 'push', (chunk) => {
    if (typeof chunk === 'string') see(Buffer.from(chunk));
    else if (chunk === null || chunk instanceof Uint8Array) see(chunk);
  });
}
