/**
 * Finds the recorded step that a call of the program corresponds to, and detects that the program is no longer the one that
 * was recorded. A call corresponds to the record with its name at the same position (call-position.ts), in the order of the
 * calls there. Steps that never overlapped must be called in their recorded order, which is checked at once; for those that
 * overlapped, replay-order.ts does it.
 */
import { AgentdumpError } from '../../errors.ts';
import type { StepKind } from '../records/layout.ts';
import type { ScopeLog, StepEntry } from '../runs/log-entries.ts';
import { type CallPosition, classOf } from './call-position.ts';
import { type Captured, hasUnknown, isTelling, isWhole, signatureOf, without } from './captured/captured.ts';
import { OwnVariables } from './captured/own-variables.ts';
import type { UnknownCall } from './captured/recognise.ts';
import { SharedVariables } from './captured/shared-variables.ts';
import type { ReplayOrder } from './replay-order.ts';
import { joinPath, labelOf, lastLabel, ordinalOf, wordOf } from './step-path.ts';
import { adviceFor, ambiguous, areInSequence } from './told-apart.ts';

export interface StepCall {
  kind: StepKind;
  name: string;
  key: string | undefined;
  /** Hash of the step's input. */
  input: string | undefined;
  /** What its function captures, if it has neither a key nor an input, and only time distinguishes it. */
  captured?: Captured | undefined;
  /** Which of that it has shown to be shared with other calls. `isOnMainLine`: it is made by no branch (main-line.ts). */
  shared?: readonly string[];
  isOnMainLine?: boolean;
}

/** The state of the program within a scope: the run itself, or one of its steps. */
export class LiveScope {
  readonly path: string;
  readonly recorded: ScopeLog | undefined;
  /** Steps of this scope that are running now. */
  open = 0;
  readonly #ordinals = new Map<string, number>();
  /** By word and position; older records, which have none, by the word only. */
  readonly #classes = new Map<string, StepEntry[]>();
  /** By word and input. */
  readonly #inputs = new Map<string, StepEntry[]>();
  /** By word and by what they captured, those that nothing else distinguishes. */
  readonly #captured = new Map<string, Map<string, StepEntry[]>>();
  /** By word and code. */
  readonly #shared = new Map<string, SharedVariables>();
  /** Like `#captured`, by word and code, without what is shared; made anew when more is found to be. */
  readonly #apart = new Map<string, { names: number; entries: Map<string, StepEntry[]> }>();
  readonly #own = new Map<string, OwnVariables>();
  /** Positions of calls without a capture, and of those that were not woken by time. */
  readonly #uncaptured = new Map<string, StepEntry[]>();
  readonly #driven = new Map<string, StepEntry[]>();
  readonly #labels = new Map<string, StepEntry>();
  readonly #keys = new Set<string>();

  constructor(path: string, recorded: ScopeLog | undefined) {
    this.path = path;
    this.recorded = recorded;
    for (const entry of recorded?.entries ?? []) this.#index(entry);
  }

  /** What the calls of this step and this code have in common and change. */
  sharedBy({ kind, name }: { kind: StepKind; name: string }, captured: Captured): SharedVariables {
    return this.#sharedBy(wordOf(kind, name), captured);
  }

  #sharedBy(word: string, captured: Captured): SharedVariables {
    const key = withCode(word, captured);
    let shared = this.#shared.get(key);
    if (!shared) {
      const alike = [...(this.#captured.get(word)?.values() ?? [])].flat();
      shared = new SharedVariables(
        alike.flatMap((entry) => (withCode(word, entry.captured!) === key ? entry.shared : [])),
      );
      this.#shared.set(key, shared);
    }
    return shared;
  }

  /** Whether what is each call's own tells this recorded one from every other of its code. */
  #isTold(entry: StepEntry, word: string, captured: Captured): boolean {
    const key = withCode(word, captured);
    let own = this.#own.get(key);
    if (!own) {
      const all = [...(this.#captured.get(word)?.values() ?? [])].flat();
      own = new OwnVariables(all.filter((one) => withCode(word, one.captured!) === key));
      this.#own.set(key, own);
    }
    return own.tellApart(entry, captured, this.#sharedBy(word, captured));
  }

  /** The recorded calls that captured the same, whatever the shared variables were then. */
  #sameApart(word: string, captured: Captured): StepEntry[] {
    const alike = this.#captured.get(word);
    const { names } = this.#sharedBy(word, captured);
    if (!alike || names.size === 0) return alike?.get(signatureOf(captured)) ?? [];
    const key = withCode(word, captured);
    let apart = this.#apart.get(key);
    if (apart?.names !== names.size) {
      apart = { names: names.size, entries: new Map() };
      for (const entry of [...alike.values()].flat())
        if (withCode(word, entry.captured!) === key)
          push(apart.entries, signatureOf(without(entry.captured!, names)), entry);
      for (const entries of apart.entries.values()) entries.sort((one, other) => one.seq - other.seq);
      this.#apart.set(key, apart);
    }
    return apart.entries.get(signatureOf(without(captured, names))) ?? [];
  }

  /** A path for a step that was never recorded. Throws `usage` for a key that is taken. */
  pathOf(call: StepCall): string {
    const word = wordOf(call.kind, call.name);
    if (call.key !== undefined) return joinPath(this.path, labelOf(word, 1, call.key));
    return joinPath(this.path, labelOf(word, this.nextOrdinal(word), undefined));
  }

  /** The next ordinal of this word, from 1; also for things that are not steps but are named like them. */
  nextOrdinal(word: string): number {
    const ordinal = (this.#ordinals.get(word) ?? 0) + 1;
    this.#ordinals.set(word, ordinal);
    return ordinal;
  }

  /** `order`: if the recorded one must be preserved. */
  claim(call: StepCall, at: CallPosition, order: ReplayOrder | undefined): StepEntry | undefined {
    if (call.key !== undefined) this.#takeKey(call);
    if (!this.recorded) return undefined;
    const found = this.#find(call, at, order);
    if (order && !this.recorded.isParallel && this.open === 0) {
      const expected = this.nextUnclaimed();
      // A step that only came before the others by timing may come after them now; replay-order.ts ensures that it comes at
      // all.
      const mayComeLater = expected?.position?.isRaw === true;
      if (expected !== found && !mayComeLater) throw changed(this, [describeCall(call)], expected, call);
    }
    if (found) found.isClaimed = true;
    return found;
  }

  /** The first recorded step that was not called yet. */
  nextUnclaimed(): StepEntry | undefined {
    const { recorded } = this;
    if (!recorded) return undefined;
    while (recorded.entries[recorded.cursor]?.isClaimed) recorded.cursor++;
    return recorded.entries[recorded.cursor];
  }

  /** Whether there is a recorded step after this position that was not called yet. */
  hasRecordedBehind({ after }: CallPosition): boolean {
    const isBehind = ({ isClaimed, position }: StepEntry) =>
      !isClaimed && (position === undefined || position.after === after);
    return this.recorded?.entries.some(isBehind) ?? false;
  }

  #index(entry: StepEntry): void {
    const { word, key, position, input, captured, path } = entry;
    this.#labels.set(lastLabel(path), entry);
    if (key !== undefined) return;
    // There may be gaps: a death may have prevented the record of an earlier call.
    this.#ordinals.set(word, Math.max(this.#ordinals.get(word) ?? 0, ordinalOf(path)));
    push(this.#classes, position ? classOf(word, position) : word, entry);
    if (input !== undefined) push(this.#inputs, `${word}\n${input}`, entry);
    else if (captured) {
      const alike = this.#captured.get(word) ?? new Map<string, StepEntry[]>();
      this.#captured.set(word, alike);
      push(alike, signatureOf(captured), entry);
    }
    if (!position) return;
    if (!captured) push(this.#uncaptured, classOf(word, position), entry);
    if (!position.isRaw) push(this.#driven, classOf(word, position), entry);
  }

  #takeKey({ kind, name, key = '' }: StepCall): void {
    const taken = labelOf(wordOf(kind, name), 1, key);
    if (this.#keys.has(taken))
      throw new AgentdumpError('usage', `the key ${key} of step ${name} is used twice`, { argument: 'key' });
    this.#keys.add(taken);
  }

  #find(call: StepCall, at: CallPosition, order: ReplayOrder | undefined): StepEntry | undefined {
    const word = wordOf(call.kind, call.name);
    if (call.key !== undefined) return this.#labels.get(labelOf(word, 1, call.key));
    const here = this.#classes.get(classOf(word, at)) ?? [];
    const older = this.#classes.get(word) ?? [];
    if (order && call.captured && this.#captured.has(word))
      return (
        this.#findByCapture(call, call.captured, at, here, order) ?? this.#findWithout(call, at, here, order)
      );
    return (
      (order && call.input === undefined ? this.#findAlike(call, at, here, order) : undefined) ??
      firstFree(here, (entry) => isSameInput(entry, call)) ??
      firstFree(older, (entry) => isSameInput(entry, call)) ??
      this.#findElsewhere(word, call, order !== undefined)
    );
  }

  /**
   * A call whose capture is not recorded: one that was recorded without any, or in a loop, the one that the end of the call before has
   * led to. Otherwise it is new, or `recognise` finds it.
   */
  #findWithout(
    call: StepCall,
    at: CallPosition,
    here: StepEntry[],
    order: ReplayOrder,
  ): StepEntry | undefined {
    // One that is woken by time is rather one that was recorded like that, and captured something else, than one that was not.
    const isRather = at.isRaw && here.some(({ isClaimed, captured }) => !isClaimed && captured);
    const uncaptured = this.#uncaptured.get(classOf(wordOf(call.kind, call.name), at)) ?? [];
    const found = this.#findAlike(call, at, isRather ? uncaptured.filter(isWokenRaw) : uncaptured, order);
    if (found || this.recorded?.isParallel) return found;
    const before = here.findLast(({ isClaimed }) => isClaimed);
    return before && order.isLedBy(before) ? here.find(({ isClaimed }) => !isClaimed) : undefined;
  }

  /** If the call is not recorded, unless as one that captured something else. */
  unknown(call: StepCall, at: CallPosition, order: ReplayOrder): UnknownCall | undefined {
    const { captured, isOnMainLine = false } = call;
    const word = wordOf(call.kind, call.name);
    if (!captured || !this.#captured.has(word) || this.#sameApart(word, captured).length > 0)
      return undefined;
    const before = this.#labels.get(at.after);
    const isLed = at.after !== '' && (!before || order.isLedBy(before) === true);
    const { names: shared } = this.#sharedBy(word, captured);
    return { scope: this, word, captured, at, isLed, isOnMainLine, shared };
  }

  /** Whether the recorded calls that it may be are told apart by what they captured; one not woken by time is by its position. */
  areTold({ kind, name }: StepCall, at: CallPosition): boolean {
    const word = wordOf(kind, name);
    if (!this.#captured.has(word)) return false;
    return !this.#driven.get(classOf(word, at))?.some(({ isClaimed }) => !isClaimed);
  }

  /**
   * A call that captures what exactly one recorded one did, at whatever position: a queue may have handed the work to another
   * branch. Those that captured the same data do the same, so that each may be the other. What was not seen as a whole (an instance of
   * a class) may differ, so that they are told apart like calls that capture nothing; also the only one, if something was not seen at all.
   */
  #findByCapture(
    call: StepCall,
    captured: Captured,
    at: CallPosition,
    here: StepEntry[],
    order: ReplayOrder,
  ): StepEntry | undefined {
    const word = wordOf(call.kind, call.name);
    const { names } = this.#sharedBy(word, captured);
    const same = this.#sameApart(word, captured);
    const place = classOf(word, at);
    const sameHere = same.filter(({ position }) => position && classOf(word, position) === place);
    const own = without(captured, names);
    const isUnique =
      same.length === 1 &&
      !hasUnknown(own) &&
      here.some((entry) => entry.captured && !same.includes(entry)) &&
      this.#isTold(same[0]!, word, captured);
    // A call of whose variables none is its own may be any.
    const isTold = names.size === 0 || Object.entries(own).some(([name, value]) => isTelling(name, value));
    const isSame =
      names.size === 0 ||
      (same.length === 1
        ? haveSame(names, same[0]!.captured!, captured) || this.#isTold(same[0]!, word, captured)
        : same.every((entry) => haveSame(names, entry.captured!, same[0]!.captured!)));
    if (isTold && ((isWhole(own) && isSame) || isUnique))
      return sameHere.find(({ isClaimed }) => !isClaimed) ?? same.find(({ isClaimed }) => !isClaimed);
    if (!isSame && !areInSequence(same))
      throw ambiguous(call.kind, call.name, this.path, { shared: [...names] });
    if (!isSame && isWhole(captured)) {
      const exact = same.find((entry) => !entry.isClaimed && isExact(entry, captured));
      if (exact) return exact;
    }
    if (same.length > 0) return this.#findAlike(call, at, sameHere.length > 0 ? sameHere : same, order);
    return undefined;
  }

  /**
   * The same input at another position: a queue may have handed the work to another branch. Not if the recorded order must be
   * preserved.
   */
  #findElsewhere(word: string, call: StepCall, isStrict: boolean): StepEntry | undefined {
    if (isStrict && !this.recorded?.isParallel) return undefined;
    if (call.input !== undefined)
      return firstFree(this.#inputs.get(`${word}\n${call.input}`) ?? [], () => true);
    if (isStrict) return undefined;
    return this.recorded?.entries.find(
      (entry) =>
        !entry.isClaimed && entry.word === word && entry.key === undefined && isSameInput(entry, call),
    );
  }

  /**
   * The first of those that nothing but their order distinguishes. If only time determines that order, it is the recorded one only if
   * they are calls of a loop and not of branches, so its end is held back until that is certain.
   */
  #findAlike(
    { kind, name, captured }: StepCall,
    { isRaw }: CallPosition,
    here: StepEntry[],
    order: ReplayOrder,
  ): StepEntry | undefined {
    const alike = here.filter(({ input }) => input === undefined);
    const free = alike.filter(({ isClaimed }) => !isClaimed);
    const found = free.find((entry) => isWokenRaw(entry) === isRaw) ?? free[0];
    if (found && !isRaw && !isWokenRaw(found)) return found;
    const unclear = free.filter(isWokenRaw);
    const before = found && alike.findLast(({ isClaimed }) => isClaimed);
    const isNext = before && order.isLedBy(before);
    // Whether a call is woken by time may differ, if it awaits several things at once.
    const isOther = isNext === false && isRaw && isWokenRaw(found!);
    if (alike.some(({ held }) => held) || !areInSequence(unclear) || isOther)
      throw ambiguous(kind, name, this.path, { captured });
    if (found && !isNext) found.held = unclear.length > 1 ? 'several' : 'only';
    return found;
  }
}

/** Functions of different code have different variables. */
const withCode = (word: string, captured: Captured): string => `${word}\n${captured['()']}`;

const isExact = ({ captured }: StepEntry, other: Captured): boolean =>
  signatureOf(captured!) === signatureOf(other);

const haveSame = (names: ReadonlySet<string>, one: Captured, other: Captured): boolean =>
  [...names].every((name) => one[name] === other[name]);

const isWokenRaw = ({ position }: StepEntry): boolean => position?.isRaw === true;

function push(lists: Map<string, StepEntry[]>, key: string, entry: StepEntry): void {
  const list = lists.get(key);
  if (list) list.push(entry);
  else lists.set(key, [entry]);
}

/** Removes claimed ones from the front, so that long loops don't scan them repeatedly. */
function firstFree(entries: StepEntry[], isMeant: (entry: StepEntry) => boolean): StepEntry | undefined {
  while (entries[0]?.isClaimed && entries.length > keptClaimed) entries.shift();
  return entries.find((entry) => !entry.isClaimed && isMeant(entry));
}

const keptClaimed = 16;

/** If one of them has no input, the name decides. */
function isSameInput(entry: StepEntry, { input }: StepCall): boolean {
  return entry.input === undefined || input === undefined || entry.input === input;
}

/**
 * The error for a program that took another path, with the recorded steps around the place. `asked`: what it calls instead;
 * empty at its end. `expected` may be the path of a question.
 */
export function changed(
  scope: LiveScope,
  asked: string[],
  expected: StepEntry | string | undefined,
  call?: StepCall,
): AgentdumpError {
  const entries = scope.recorded?.entries ?? [];
  const at = typeof expected === 'object' ? entries.indexOf(expected) : entries.length;
  const diff: string[] = [];
  for (let index = Math.max(0, at - 3); index < at; index++)
    diff.push(`    ${index + 1}  ${describe(entries[index]!)}`);
  const isOfInput =
    typeof expected === 'object' && call !== undefined && expected.word === wordOf(call.kind, call.name);
  const withInput = (input: string | undefined) => (isOfInput ? `, input ${input ?? 'unknown'}` : '');
  if (typeof expected === 'object')
    diff.push(`  - ${at + 1}  ${describe(expected)}, ${expected.state}${withInput(expected.input)}`);
  else if (expected !== undefined) diff.push(`  - ${at + 1}  ${describeQuestion(lastLabel(expected))}`);
  for (const one of asked.length > 0 ? asked : ['the end']) {
    const isNamesake = !isOfInput && typeof expected === 'object' && one === describe(expected);
    const other = isNamesake ? ', in another branch or with another input' : withInput(call?.input);
    diff.push(`  + ${at + 1}  ${one}${other}`);
  }
  const advice = typeof expected === 'object' && expected.captured ? adviceFor(expected, asked) : '';
  const where = scope.path === '' ? '' : ` within ${scope.path}`;
  return new AgentdumpError(
    'changed',
    `the program asks for other steps than its run has recorded${where} (- recorded, + asked for now):\n${diff.join('\n')}${advice}`,
    {
      path: scope.path,
      diff,
      expected: typeof expected === 'object' ? expected.path : expected,
      asked: asked[0] ?? 'the end',
    },
  );
}

function describe({ kind, path }: StepEntry): string {
  return kind === 'step' ? `step ${lastLabel(path)}` : lastLabel(path).replace(':', ' ');
}

/** A signal, a sleep or a child run has a prefix. */
function describeQuestion(label: string): string {
  return label.includes(':') ? label.replace(':', ' ') : `approval ${label}`;
}

export function describeCall({ kind, name, key }: StepCall): string {
  return `${kind} ${key === undefined ? name : `${name} (${key})`}`;
}
