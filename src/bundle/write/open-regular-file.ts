/** Apart from the rest of safe-folder.ts, because the preload reads a recipient's file at its start. */
import { closeSync, constants, fstatSync, openSync } from './system.ts';

/** Opens an existing regular file for reading: no link is followed, no pipe waited for. Throws what the system throws. */
export function openRegularFile(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw Object.assign(new Error('not a regular file'), { code: 'EFTYPE' });
}
