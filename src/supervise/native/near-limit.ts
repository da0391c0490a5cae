/**
 * The copy of a program's memory that is taken when a limit of its cgroups is near. The program continues; its heap is read
 * from the copy only if it is killed. Otherwise the copy is removed.
 */
import { closeSync } from 'node:fs';
import { viewProcess } from '../evidence/proc-view.ts';
import { findProgram } from '../health/program.ts';
import { requireKnownMemory, requireOneMoment, requireRoom } from './copied-heap.ts';
import { bytesFor, mayCopy, mayRead, mostReadable } from './core-room.ts';
import { type FullHeap, type FullHeapOptions, withGaps } from './full-heap.ts';
import { bufferedBytes } from './live-core.ts';
import { findDisk, type SealedCopy, sealCopy } from './sealed-copy.ts';

export interface NearLimitOptions extends FullHeapOptions {
  /** Folder for the copy if the temporary folder is in memory. */
  dir: string;
  /** Share of the limit in percent; 0 for no copy. */
  percent: number;
}

interface Taken {
  sealed: SealedCopy;
  bytes: number;
  pauseMs: number;
  gaps: string[];
  /** Its command line, whose secrets the heap may contain. */
  words: string[];
}

export class NearLimitCopy {
  readonly #pid: number;
  readonly #options: NearLimitOptions;
  readonly #share: number;
  readonly #takenAt = performance.now();
  readonly #taken: Taken | string;

  private constructor(pid: number, share: number, options: NearLimitOptions, taken: Taken | string) {
    this.#pid = pid;
    this.#share = share;
    this.#options = options;
    this.#taken = taken;
  }

  /** Never throws: why there is no copy is told if the program is killed. `pid`: our child, which may be a shell. */
  static of(pid: number, share: number, options: NearLimitOptions): NearLimitCopy {
    const program = findProgram(pid);
    return new NearLimitCopy(program, share, options, tryTake(program, options));
  }

  /** Never rejects. */
  async read(): Promise<FullHeap> {
    const pid = this.#pid;
    const taken = this.#taken;
    const seconds = (performance.now() - this.#takenAt) / 1000;
    const moment = `when memory was at ${Math.round(this.#share * 100)} % of the cgroup’s limit, ${seconds.toFixed(1)} s before it was killed`;
    if (typeof taken === 'string') return { pid, isOfKilled: true, gap: `${taken} (${moment})` };
    const { sealed, bytes, pauseMs, gaps, words } = taken;
    try {
      if (this.#options.isBusy()) throw new Error('the heap of the life before is still being read');
      requireRoom(bytes, mayRead());
      const reading = withGaps(await this.#options.readApart(sealed, words), gaps);
      reading.result.catch(() => {}).finally(() => this.close());
      return { pid, isOfKilled: true, pauseMs, moment, reading };
    } catch (error) {
      this.close();
      return { pid, isOfKilled: true, gap: describe(error) };
    }
  }

  close(): void {
    if (typeof this.#taken !== 'string') closeSync(this.#taken.sealed.file);
  }
}

function tryTake(pid: number, { dir }: NearLimitOptions): Taken | string {
  try {
    requireKnownMemory(pid);
    const expected = bytesFor(pid);
    // If it could not be read afterwards, the program would be stopped in vain.
    requireRoom(expected, mostReadable());
    const folder = findDisk(dir, expected);
    if (folder === undefined) throw new Error(`there is no disk with room for a copy of ${expected} bytes`);
    const words = viewProcess(pid).argv;
    const buffered = Math.min(bufferedBytes, mayCopy(process.pid));
    const { copy, sealed } = sealCopy(pid, folder, buffered);
    try {
      requireOneMoment(copy);
    } catch (error) {
      closeSync(sealed.file);
      throw error;
    }
    return { sealed, words, bytes: copy.bytes, pauseMs: copy.pauseMs, gaps: copy.gaps };
  } catch (error) {
    return describe(error);
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
