/** Bytes that can be read at any place, wherever they are: a file, or what another window holds in another form. */
import { AgentdumpError } from '../../errors.ts';
import { closeSync, constants, failureCode, fstatSync, openSync, readSync } from '../write/system.ts';

export interface ByteWindow {
  size: number;
  /** Fills all of `target` from `position` on, as far as there are bytes; how many there were. */
  read(target: Uint8Array, position: number): number;
  /** The descriptor behind it, where the bytes stand in a file as they are. */
  fd?: number;
  close(): void;
}

/** A link that a person names is followed; a pipe is not waited for. Throws `not-found`. */
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
