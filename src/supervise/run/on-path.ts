/** Whether a program can be started by its name alone. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `path`: a list of folders like the variable PATH. */
export function isOnPath(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
