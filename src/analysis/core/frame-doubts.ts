/**
 * Collects doubts about one thread's frames as gaps: a place that was not found, code without names, a return address that
 * doesn't follow a call. Counted by reason, so that a deep stack produces one line instead of a page.
 */
import { basename } from 'node:path';
import type { Gap } from '../../model/verdict.ts';
import type { NativeFrame } from './native/native-stack.ts';

const counted = (count: number) => (count === 1 ? '1 frame' : `${count} frames`);

export class FrameDoubts {
  readonly #reasons = new Map<string, number>();

  /** `reason` follows "3 frames: ". */
  add(reason: string): void {
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  /** A frame in a file without function names: it is stripped, or not on this machine. */
  addNameless({ location }: NativeFrame): void {
    const { module } = location ?? {};
    if (module) this.add(`${basename(module.path)} has no symbols for them`);
  }

  gaps(tid: number): Gap[] {
    return [...this.#reasons].map(([reason, count]) => ({
      part: `stack of thread ${tid}`,
      reason: `${counted(count)}: ${reason}`,
    }));
  }
}
