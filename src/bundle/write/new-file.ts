/** Creates a private file under an unused name, complete or not at all. */
import { AgentdumpError } from '../../errors.ts';
import { unfinishedSuffix } from '../layout/bundle.ts';
import { createPrivateFile, nameWithoutReplacing, unwritable } from './safe-folder.ts';
import { closeSync, failureCode, unlinkSync, writeAll } from './system.ts';

/** Returns the result of `fill` and the number of bytes it wrote. Throws `unwritable`, and what `fill` throws. */
export function writeNewFile<T>(
  output: string,
  fill: (put: (bytes: Uint8Array) => void) => T,
  unfinished: string = output + unfinishedSuffix,
): { result: T; bytes: number } {
  let bytes = 0;
  try {
    const fd = createPrivateFile(unfinished);
    try {
      const result = closing(fd, () =>
        fill((chunk) => {
          writeAll(fd, chunk);
          bytes += chunk.length;
        }),
      );
      nameWithoutReplacing(unfinished, output);
      return { result, bytes };
    } catch (error) {
      unlinkSync(unfinished);
      throw error;
    }
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    throw unwritable(output, failureCode(error), error);
  }
}

/** Closed before it gets its name, because Windows can't rename an open file. */
function closing<T>(fd: number, use: () => T): T {
  try {
    return use();
  } finally {
    closeSync(fd);
  }
}
