/**
 * Calls that get what is recorded although variables that their functions capture have other values now. By its position such a call is
 * the recorded one, and a page that was fetched again or a client has changed; but it may also be about another document. So the variables
 * are named, once for each step name.
 */
import type { StepEntry } from '../../runs/log-entries.ts';
import { type Captured, isTelling } from './captured.ts';

export class ReplacedValues {
  readonly #notify: (line: string) => void;
  readonly #named = new Set<string>();

  constructor(notify: (line: string) => void) {
    this.#notify = notify;
  }

  /** `shared`: variables that all calls of the step change, which say nothing of this one. */
  compare(entry: StepEntry, captured: Captured | undefined, shared: ReadonlySet<string>): void {
    const { captured: before, word, path } = entry;
    if (!before || !captured || this.#named.has(word)) return;
    const names = Object.keys(captured).filter(
      (name) =>
        !shared.has(name) &&
        isTelling(name, captured[name]) &&
        isTelling(name, before[name]) &&
        before[name] !== undefined &&
        before[name] !== captured[name],
    );
    if (names.length === 0) return;
    this.#named.add(word);
    this.#notify(
      `step ${path} is recognised by its position, but its function captures another value of ${names.join(', ')} than the recorded one: ` +
        'if that is other work, give the step a key or an input',
    );
  }
}
