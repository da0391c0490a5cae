/**
 * Finds the recorded step that a call of the program means, and notices when the program is no longer the one that
 * recorded. Steps that never overlapped must be asked for in their recorded order; where some overlapped, the order says
 * nothing. Either way a call takes the first record of its name that has the same input.
 */
import { AgentdumpError } from '../errors.ts';
import type { StepKind } from './layout.ts';
import type { ScopeLog, StepEntry } from './run-log.ts';
import { joinPath, labelOf, lastLabel, wordOf } from './step-path.ts';

export interface StepCall {
  kind: StepKind;
  name: string;
  key: string | undefined;
  /** Hash of what the step is given. */
  input: string | undefined;
}

/** Where in the run the program stands: within the run itself, or within one of its steps. */
export class LiveScope {
  readonly path: string;
  readonly recorded: ScopeLog | undefined;
  /** Steps of this scope that are at work now. */
  open = 0;
  readonly #ordinals = new Map<string, number>();
  readonly #groups = new Map<string, { entries: StepEntry[]; next: number }>();
  readonly #keys = new Set<string>();

  constructor(path: string, recorded: ScopeLog | undefined) {
    this.path = path;
    this.recorded = recorded;
    for (const entry of recorded?.entries ?? []) this.#index(entry);
  }

  /** A path for a step that was never recorded. Throws `usage` for a key that is taken. */
  pathOf(call: StepCall): string {
    const word = wordOf(call.kind, call.name);
    if (call.key !== undefined) return joinPath(this.path, labelOf(word, 1, call.key));
    return joinPath(this.path, labelOf(word, this.nextOrdinal(word), undefined));
  }

  /** Counts from 1 what is no step but is named like one. */
  nextOrdinal(word: string): number {
    const ordinal = (this.#ordinals.get(word) ?? 0) + 1;
    this.#ordinals.set(word, ordinal);
    return ordinal;
  }

  claim(call: StepCall, isStrict: boolean): StepEntry | undefined {
    if (call.key !== undefined) this.#takeKey(call);
    if (!this.recorded) return undefined;
    const found = this.#find(call);
    if (isStrict && !this.recorded.isParallel && this.open === 0) {
      const expected = this.nextUnclaimed();
      if (expected !== found) throw changed(this, call, expected);
    }
    if (found) found.isClaimed = true;
    return found;
  }

  /** The first recorded step that was not asked for yet. */
  nextUnclaimed(): StepEntry | undefined {
    const { recorded } = this;
    if (!recorded) return undefined;
    while (recorded.entries[recorded.cursor]?.isClaimed) recorded.cursor++;
    return recorded.entries[recorded.cursor];
  }

  #index(entry: StepEntry): void {
    const { word } = entry;
    const group = this.#groups.get(word) ?? { entries: [], next: 0 };
    group.entries.push(entry);
    this.#groups.set(word, group);
    if (entry.key === undefined) this.#ordinals.set(word, (this.#ordinals.get(word) ?? 0) + 1);
  }

  #takeKey({ kind, name, key = '' }: StepCall): void {
    const taken = labelOf(wordOf(kind, name), 1, key);
    if (this.#keys.has(taken))
      throw new AgentdumpError('usage', `the key ${key} of step ${name} is used twice`, { argument: 'key' });
    this.#keys.add(taken);
  }

  #find(call: StepCall): StepEntry | undefined {
    const word = wordOf(call.kind, call.name);
    const group = this.#groups.get(word);
    if (!group) return undefined;
    while (group.entries[group.next]?.isClaimed) group.next++;
    if (call.key !== undefined) {
      const label = labelOf(word, 1, call.key);
      return group.entries.find(({ path }) => lastLabel(path) === label);
    }
    const end = Math.min(group.entries.length, group.next + searchLimit);
    for (let at = group.next; at < end; at++) {
      const entry = group.entries[at]!;
      if (!entry.isClaimed && entry.key === undefined && isSameInput(entry, call)) return entry;
    }
    return undefined;
  }
}

/** Where one of both says nothing of its input, the name decides. */
function isSameInput(entry: StepEntry, { input }: StepCall): boolean {
  return entry.input === undefined || input === undefined || entry.input === input;
}

/** So many steps of one name may be asked for in another order than they were recorded in. */
const searchLimit = 4096;

/** The recorded steps around the place where the program went another way. `call` is absent at its end. */
export function changed(
  scope: LiveScope,
  call: StepCall | undefined,
  expected: StepEntry | undefined,
): AgentdumpError {
  const entries = scope.recorded?.entries ?? [];
  const at = expected ? entries.indexOf(expected) : entries.length;
  const diff: string[] = [];
  for (let index = Math.max(0, at - 3); index < at; index++)
    diff.push(`    ${index + 1}  ${describe(entries[index]!)}`);
  const isOfInput =
    expected !== undefined && call !== undefined && expected.word === wordOf(call.kind, call.name);
  const withInput = (input: string | undefined) => (isOfInput ? `, input ${input ?? 'unknown'}` : '');
  if (expected)
    diff.push(`  - ${at + 1}  ${describe(expected)}, ${expected.state}${withInput(expected.input)}`);
  const asked = call
    ? `${call.kind} ${call.key === undefined ? call.name : `${call.name} (${call.key})`}`
    : 'the end';
  diff.push(`  + ${at + 1}  ${asked}${withInput(call?.input)}`);
  const where = scope.path === '' ? '' : ` within ${scope.path}`;
  return new AgentdumpError(
    'changed',
    `the program asks for other steps than its run has recorded${where} (- recorded, + asked for now):\n${diff.join('\n')}`,
    { path: scope.path, diff, expected: expected?.path, asked },
  );
}

function describe({ kind, path }: StepEntry): string {
  return kind === 'step' ? `step ${lastLabel(path)}` : lastLabel(path).replace(':', ' ');
}
