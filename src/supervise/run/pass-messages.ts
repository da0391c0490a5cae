/**
 * Connects the IPC channel of a Node parent (child_process.fork) with the program: messages and handles are passed on in both
 * directions, and a disconnect at one end disconnects the other.
 */
import type { ChildProcess, SendHandle, Serializable } from 'node:child_process';

/** A program that is still alive this long after disconnecting has not just died. */
const aliveMs = 200;
/** How long to wait for its last messages after its end. */
const lastMs = 500;

type Handle = SendHandle | undefined;
type Send = (message: Serializable, handle: Handle, options: undefined, failed: () => void) => void;

/** The receiver is gone. */
const lost = (): void => {};

/** Resolves when everything that the child sent has been passed on, at the latest 500 ms after its end. */
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
      // Without a listener the channel no longer keeps this process alive.
      if (child.connected) child.once('disconnect', () => resolve());
      setTimeout(resolve, child.connected ? lastMs : 0);
    });
  });
}

/** The serialization that our parent uses. Node deletes the variable from process.env, but /proc still has it. */
export function parentSerialization(environ: string): 'json' | 'advanced' {
  return environ.includes('NODE_CHANNEL_SERIALIZATION_MODE=advanced') ? 'advanced' : 'json';
}
