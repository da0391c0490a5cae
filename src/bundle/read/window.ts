/** Random access to bytes: of a file, or of another window in a different form. */
import { AgentdumpError } from '../../errors.ts';
import { closeSync, constants, failureCode, fstatSync, openSync, readSync } from '../write/system.ts';

export interface ByteWindow {
  size: number;
  /** Fills `target` from `position` as far as there are bytes, and returns their number. */
  read(target: Uint8Array, position: number): number;
  /** The descriptor of a file that contains the bytes unchanged. */
  fd?: number;
  close(): void;
}

/** Follows a link that the user names, but does not block on a pipe. Throws `not-found`. */
export function openFileWindow(path: string): ByteWindow {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new AgentdumpError('not-found', `${path} cannot be opened: ${failureCode(error)}`, { path }, error);
  }
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  return { size: fstatSync(fd).size, fd, read: (target, at) => readFully(fd, target, at), close };
}

function readFully(fd: number, target: Uint8Array, position: number): number {
  let done = 0;
  for (let count = 1; count > 0 && done < target.length; done += count)
    count = readSync(fd, target, done, target.length - done, position + done);
  return done;
}
