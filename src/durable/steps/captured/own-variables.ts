/**
 * What the recorded calls of one step and one code have each for itself, so that it tells them apart: variables in which calls differed
 * that were open at the same time. `SharedVariables` has compared each call with the last one before it that was open, so what it has not
 * found is no variable of all. In what other calls differ may be one that was changed between them.
 */
import { type Captured, isTelling } from './captured.ts';
import type { SharedVariables } from './shared-variables.ts';

interface RecordedCall {
  captured: Captured | undefined;
  /** Numbers of its start and its end; negative if there is none. */
  seq: number;
  endSeq: number;
}

export class OwnVariables {
  readonly #calls: readonly RecordedCall[];
  readonly #differed = new Set<string>();

  constructor(calls: readonly RecordedCall[]) {
    this.#calls = [...calls].sort((one, other) => one.seq - other.seq);
    for (const [at, { captured, seq }] of this.#calls.entries()) {
      const before = this.#calls.slice(0, at).findLast(({ endSeq }) => endSeq < 0 || endSeq > seq);
      if (!before) continue;
      for (const [name, value] of Object.entries(captured ?? {}))
        if (isTelling(name, value) && before.captured?.[name] !== value) this.#differed.add(name);
    }
  }

  /** Whether a call that captures this can be none of the others. False if nothing is recorded to compare this one with. */
  tellApart(entry: RecordedCall, captured: Captured, { own, names }: SharedVariables): boolean {
    const telling = [...own, ...this.#differed].filter((name) => !names.has(name));
    const others = this.#calls.filter((one) => one !== entry);
    const isOther = (one: RecordedCall) => telling.some((name) => one.captured?.[name] !== captured[name]);
    return others.length > 0 && others.every(isOther);
  }
}
