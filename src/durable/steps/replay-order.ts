/**
 * The order in which a program is given the ends of its steps: one at a time, each when the program has done all that the
 * one before made it do, and in a run that is taken up in the recorded order, an end only when every start and end before it
 * was asked for. So a race, a queue and a loop go the way they went. New work begins when all that is recorded was given.
 */
import { AgentdumpError } from '../../errors.ts';
import { ownPausesAtWork, ownTimer } from './own-pause.ts';
import { ProgramWork } from './program-work.ts';

/** A step or a question of the record. */
export interface OrderedEntry {
  readonly path: string;
  /** The program of this process has asked for it. */
  isClaimed: boolean;
}

export interface OrderedItem {
  seq: number;
  entry: OrderedEntry;
  isEnd: boolean;
}

export interface OrderOptions {
  /** By their numbers. */
  items: OrderedItem[];
  notify: (line: string) => void;
  /** Whether the code that runs now is the program's. */
  isOfProgram: () => boolean;
  /** Told when the program has gone another way: what was not asked for, and what is asked for instead. */
  onChanged: (missing: OrderedEntry, asked: string[]) => Error;
  /** Milliseconds: what is looked at after which time. For tests. */
  patience?: Partial<Patience>;
}

/** Counted by looks, each a turn of the event loop: a process that a busy machine gives no processor loses no time by it. */
export interface Patience {
  lookMs: number;
  /** Nothing in the process can wake the program any more: it will never ask. */
  quietMs: number;
  /** A line says what is waited for. */
  sayMs: number;
  /** Something may still wake it, and the order is given up. */
  giveUpMs: number;
}

const defaultPatience: Patience = { lookMs: 50, quietMs: 700, sayMs: 5_000, giveUpMs: 30_000 };

interface Waiter {
  resolve: () => void;
  reject: (error: Error) => void;
}

export class ReplayOrder {
  readonly #options: OrderOptions;
  readonly #patience: Patience;
  #programWork: ProgramWork | undefined;
  #items: OrderedItem[];
  #next = 0;
  /** Recorded ends that are asked for, by their numbers; those whose number is in no list any more. */
  readonly #turns = new Map<number, Waiter>();
  readonly #late: Waiter[] = [];
  /** New ends: in the order of their records, and those that wait to be given. */
  #tickets: number[] = [];
  #lastTicket = 0;
  readonly #given = new Map<number, Waiter>();
  /** What is to begin. */
  readonly #starts: (Waiter & { asked: string | undefined })[] = [];
  #isPausing = false;
  #timer: NodeJS.Timeout | undefined;
  #idleMs = 0;
  #quietMs = 0;
  #hasSaid = false;
  #givenUp: OrderedEntry[] = [];
  #baseline = new Map<string, number>();

  constructor(options: OrderOptions) {
    this.#options = options;
    this.#items = options.items;
    this.#patience = { ...defaultPatience, ...options.patience };
  }

  /** What is at work in the process before the program: it can't be what will wake it. */
  begin(): void {
    if (this.isThrough) return;
    this.#baseline = countResources();
    this.#programWork = new ProgramWork(this.#options.isOfProgram);
    this.#programWork.begin();
  }

  /** All that is recorded was given, or the run is over. */
  end(): void {
    this.#programWork?.end();
    this.#programWork = undefined;
  }

  get isThrough(): boolean {
    return this.#next >= this.#items.length;
  }

  /** What is new begins in the order in which it was asked for: so are its records, and a death cuts off the last ones. */
  get mayBegin(): boolean {
    return this.isThrough && this.#starts.length === 0;
  }

  /** Whether what runs now was woken by the run itself: by the start of it or of a step, or by an end that was given. */
  get isDriven(): boolean {
    return this.#isPausing;
  }

  /** An entry was asked for. */
  noteStart(): void {
    if (!this.isThrough) this.#advance();
  }

  /** Resolves when it is the turn of the recorded end. Rejects when the program has changed. */
  async turnOf(seq: number): Promise<void> {
    if (this.isThrough) return this.giveNew();
    await this.#wait((waiter) => this.#turns.set(seq, waiter));
  }

  /** An end is being recorded that was not before: it is given before those whose records come later. */
  takeTicket(): number {
    this.#tickets.push(++this.#lastTicket);
    return this.#lastTicket;
  }

  /** Resolves when it is the turn of a new end. Undefined: it is now. */
  giveNew(ticket: number = this.takeTicket()): Promise<void> | undefined {
    if (!this.isThrough || this.#isPausing || this.#late.length > 0 || this.#tickets[0] !== ticket)
      return this.#wait((waiter) => this.#given.set(ticket, waiter));
    this.#tickets.shift();
    this.drive();
    return undefined;
  }

  /** The end of this ticket is given to nobody, or in another's place. */
  dropTicket(ticket: number | undefined): void {
    if (ticket === undefined) return;
    this.#tickets = this.#tickets.filter((other) => other !== ticket);
    this.#advance();
  }

  /** Resolves when all that is recorded was given. `asked`: what is to begin then. */
  async through(asked?: string): Promise<void> {
    if (!this.mayBegin) await this.#wait((waiter) => this.#starts.push({ ...waiter, asked }));
  }

  /** Entries that no program will ask for any more: what lies below a step that was settled without being run. */
  drop(isGone: (path: string) => boolean): void {
    const isLeft = ({ entry }: OrderedItem, at: number) => at < this.#next || !isGone(entry.path);
    this.#items = this.#items.filter(isLeft);
    this.#givenUp = this.#givenUp.filter(({ path }) => !isGone(path));
    this.#advance();
  }

  #wait(join: (waiter: Waiter) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      join({ resolve, reject });
      this.#advance();
      this.#watch();
    });
  }

  #advance(): void {
    if (this.#isPausing) return;
    while (!this.isThrough) {
      const { seq, entry, isEnd } = this.#items[this.#next]!;
      if (!isEnd) {
        if (!entry.isClaimed) return;
        this.#moveOn();
        continue;
      }
      const waiter = this.#turns.get(seq);
      if (!waiter) return;
      this.#turns.delete(seq);
      this.#moveOn();
      waiter.resolve();
      this.drive();
      return;
    }
    this.end();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { resolve } of this.#starts.splice(0)) resolve();
    // A turn that is not in the list is one of those that were dropped, or given up.
    this.#late.push(...this.#turns.values());
    this.#turns.clear();
    this.#giveOne();
  }

  #giveOne(): void {
    const [ticket = 0] = this.#tickets;
    const late = this.#late.shift();
    const waiter = late ?? this.#given.get(ticket);
    if (!waiter) return;
    if (!late) {
      this.#tickets.shift();
      this.#given.delete(ticket);
    }
    waiter.resolve();
    this.drive();
  }

  #moveOn(): void {
    this.#next++;
    this.#idleMs = 0;
    this.#quietMs = 0;
  }

  /** Nothing more is given until the program has done everything that it can do now: a tick set in a microtask comes behind. */
  drive(): void {
    if (this.#isPausing) return;
    this.#isPausing = true;
    queueMicrotask(() => process.nextTick(this.#endPause));
  }

  readonly #endPause = (): void => {
    this.#isPausing = false;
    this.#advance();
  };

  #watch(): void {
    if (this.#timer || this.isThrough || this.#waiters().length === 0) return;
    // Keeps the process alive, as what is waited for would; a tick later it is not counted among what does.
    const look = () => {
      this.#timer = undefined;
      this.#look();
      this.#watch();
    };
    this.#timer = ownTimer(() => process.nextTick(look), this.#patience.lookMs);
  }

  #look(): void {
    if (this.isThrough || this.#isPausing) return;
    const { lookMs, quietMs, sayMs, giveUpMs } = this.#patience;
    this.#idleMs += lookMs;
    this.#quietMs = this.#isProcessQuiet() ? this.#quietMs + lookMs : 0;
    if (this.#quietMs > quietMs) this.#fail();
    else if (this.#idleMs > giveUpMs) this.#giveUp();
    else if (this.#idleMs > sayMs && !this.#hasSaid) {
      this.#hasSaid = true;
      this.#options.notify(`waits for the program to come to ${this.#missing().path}, as recorded`);
    }
  }

  #missing(): OrderedEntry {
    return this.#items[this.#next]!.entry;
  }

  #asked(): string[] {
    return this.#starts.map(({ asked }) => asked).filter((asked) => asked !== undefined);
  }

  #waiters(): Waiter[] {
    return [...this.#turns.values(), ...this.#given.values(), ...this.#starts];
  }

  #fail(): void {
    const error = this.#options.onChanged(this.#missing(), this.#asked());
    const waiters = this.#waiters();
    this.#items = [];
    this.#turns.clear();
    this.#given.clear();
    this.#tickets = [];
    this.#starts.length = 0;
    for (const { reject } of waiters) reject(error);
  }

  /** What the program was given up for, and has not come to since. */
  get neverAsked(): OrderedEntry | undefined {
    return this.#givenUp.find(({ isClaimed }) => !isClaimed);
  }

  #giveUp(): void {
    const { path } = this.#missing();
    this.#givenUp = this.#items.slice(this.#next).map(({ entry }) => entry);
    this.#options.notify(
      `the program has not come to ${path}, which is recorded, for ${this.#patience.giveUpMs / 1000} s: ` +
        'it goes on, and the order of what overlapped is no longer kept',
    );
    this.#items = [];
    this.#advance();
  }

  /** Nothing is at work but what was before the program began, and pauses of ours. */
  #isProcessQuiet(): boolean {
    if (this.#programWork?.wasAtWork()) return false;
    const now = countResources();
    for (const [kind, count] of now) {
      const own = kind === 'Timeout' ? ownPausesAtWork() : 0;
      if (count - own > (this.#baseline.get(kind) ?? 0)) return false;
    }
    return true;
  }
}

/** What keeps the loop alive, by kind. */
function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** For a call that several recorded ones could be, which time alone told apart. */
export function ambiguous(what: string, scope: string, many: number): AgentdumpError {
  const where = scope === '' ? '' : ` within ${scope}`;
  return new AgentdumpError(
    'changed',
    `${what}${where}: ${many} calls in branches that had done nothing recorded before are told apart by time alone, so that it ` +
      'is not known which recorded one this is. Give each a key or an input, or make what comes before it a step',
    { path: scope, asked: what },
  );
}
