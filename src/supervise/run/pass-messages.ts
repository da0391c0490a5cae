/**
 * A Node parent that has a channel to us (child_process.fork) means the program: its messages are passed on, and the
 * program's come back, with their handles. Whoever of the two hangs up early is hung up upon at the other end.
 */
import type { ChildProcess, SendHandle, Serializable } from 'node:child_process';

/** A program that hangs up and lives for so long has not just died. */
const aliveMs = 200;
/** Its last messages may come after its end. */
const lastMs = 500;

type Handle = SendHandle | undefined;
type Send = (message: Serializable, handle: Handle, options: undefined, failed: () => void) => void;

/** The receiver has gone meanwhile. */
const lost = (): void => {};

/** Resolves when everything that the child has sent has been passed on, at the latest a moment after its end. */
export function passMessages(child: ChildProcess): Promise<void> {
  const down = (message: Serializable, handle: Handle): void => {
    if (child.connected) (child.send as Send).call(child, message, handle, undefined, lost);
  };
  const hangUpBelow = (): void => {
    if (child.connected) child.disconnect();
  };
  process.on('message', down);
  process.on('disconnect', hangUpBelow);
  child.on('message', (message: Serializable, handle: Handle) => {
    if (process.connected) (process.send as Send).call(process, message, handle, undefined, lost);
  });
  child.once('disconnect', () => {
    setTimeout(() => {
      if (child.exitCode === null && child.signalCode === null && process.connected) process.disconnect();
    }, aliveMs).unref();
  });
  return new Promise((resolve) => {
    child.once('exit', () => {
      process.removeListener('message', down);
      process.removeListener('disconnect', hangUpBelow);
      // Without a listener the channel no longer keeps us.
      if (child.connected) child.once('disconnect', () => resolve());
      setTimeout(resolve, child.connected ? lastMs : 0);
    });
  });
}

/** How our parent writes: Node forgets the variable that said it, the kernel does not. */
export function parentSerialization(environ: string): 'json' | 'advanced' {
  return environ.includes('NODE_CHANNEL_SERIALIZATION_MODE=advanced') ? 'advanced' : 'json';
}
