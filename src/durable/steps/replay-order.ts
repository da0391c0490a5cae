/**
 * The order in which the ends of its steps are delivered to a program: one at a time, each after the program has done
 * everything that the previous one triggered. In a resumed run it is the recorded order, and an end is delivered only after
 * every recorded start and end before it was requested. So a race, a queue and a loop take the same course as before. New
 * work begins when everything recorded was delivered.
 */
import { LedBy } from './led-by.ts';
import type { OrderedEntry, OrderedItem, OrderOptions } from './ordered-entry.ts';
import { ownTimer } from './own-pause.ts';
import { ReplayPatience } from './replay-patience.ts';

interface Waiter {
  resolve: () => void;
  reject: (error: Error) => void;
}

interface Start extends Waiter {
  path: string;
  asked: string | undefined;
  call: object | undefined;
  /** The recorded entry that it turned out to be. */
  entry?: OrderedEntry;
}

export class ReplayOrder {
  readonly #options: OrderOptions;
  readonly #patience: ReplayPatience;
  readonly #ledBy = new LedBy(() => (this.#isPausing ? this.#deliveries : 0));
  #deliveries = 0;
  #items: OrderedItem[];
  #next = 0;
  /** Requested recorded ends by number; `#late` are those whose number is not in the list any more. */
  readonly #turns = new Map<number, Waiter>();
  readonly #late: Waiter[] = [];
  /** New ends: the tickets in the order of their records, and the ends that wait for delivery. */
  #tickets: { number: number; path: string }[] = [];
  #lastTicket = 0;
  readonly #given = new Map<number, Waiter>();
  /** New work that waits to begin. */
  #starts: Start[] = [];
  #isPausing = false;
  #isTurn = false;
  #isTurnAsked = false;
  #timer: NodeJS.Timeout | undefined;
  #givenUp: OrderedEntry[] = [];
  #isBroken = false;

  constructor(options: OrderOptions) {
    this.#options = options;
    this.#items = options.items;
    this.#patience = new ReplayPatience(options.patience);
  }

  /** Notes what is active in the process before the program begins, which can't be what will wake it. */
  begin(): void {
    if (this.isThrough) return;
    this.#patience.begin(this.#options.isOfProgram);
    this.#ledBy.begin();
  }

  /** Everything recorded was delivered, or the run is over. */
  end(): void {
    this.#patience.end();
    this.#ledBy.finish();
  }

  get isThrough(): boolean {
    return this.#next >= this.#items.length;
  }

  /**
   * Whether new work at this path may begin. It does in the order in which it was requested, so its records have that order, and a death
   * cuts off the last ones.
   */
  mayBegin(path: string): boolean {
    return this.#isOpenFor(path) && !this.#starts.some((start) => this.#isOpenFor(start.path));
  }

  /** What is new is for when everything recorded was delivered; what is new within a step that is run again, for before its end. */
  #isOpenFor(path: string): boolean {
    if (this.isThrough) return true;
    const { isRunAgain, entry } = this.#items[this.#next]!;
    return isRunAgain === true && path.startsWith(`${entry.path}/`);
  }

  /**
   * Whether the running code was woken by the run itself: by its start or that of a step, or by an end that was delivered.
   */
  get isDriven(): boolean {
    return this.#isPausing;
  }

  /** Whether the end of this entry has led to the running code. Undefined if that is not known. */
  isLedBy({ deliveredAs }: OrderedEntry): boolean | undefined {
    if (deliveredAs === undefined || this.isThrough) return undefined;
    return this.#ledBy.end >= deliveredAs;
  }

  /** An entry was called. */
  noteStart(): void {
    if (!this.isThrough) this.#advance();
  }

  /** Resolves when the recorded end may be delivered. Rejects if the program has changed. */
  async turnOf(seq: number): Promise<void> {
    if (this.isThrough) return this.giveNew('');
    await this.#wait((waiter) => this.#turns.set(seq, waiter));
  }

  /** Called when a new end of what is at this path is recorded: it is delivered before those with later records. */
  takeTicket(path: string): number {
    this.#tickets.push({ number: ++this.#lastTicket, path });
    return this.#lastTicket;
  }

  /** Resolves when a new end may be delivered. Undefined: nothing is delivered any more. */
  giveNew(path: string, ticket: number = this.takeTicket(path)): Promise<void> | undefined {
    // Nothing comes in order any more.
    if (this.#isBroken) return undefined;
    return this.#wait((waiter) => this.#given.set(ticket, waiter));
  }

  /** Nearly always the first one. */
  #removeTicket(ticket: number): void {
    if (this.#tickets[0]?.number === ticket) this.#tickets.shift();
    else this.#tickets = this.#tickets.filter(({ number }) => number !== ticket);
  }

  get #nextTicket(): number | undefined {
    return this.#tickets.find(({ path }) => this.#isOpenFor(path))?.number;
  }

  /** The end of this ticket is not delivered, or is delivered in the place of another. */
  dropTicket(ticket: number | undefined): void {
    if (ticket === undefined) return;
    this.#removeTicket(ticket);
    this.#advance();
  }

  /**
   * Resolves when new work at this path may begin: everything recorded was delivered. `asked`: describes that work. Returns the entry if
   * the call has turned out to be a recorded one.
   */
  async through(path: string, asked?: string, call?: object): Promise<OrderedEntry | undefined> {
    if (this.mayBegin(path)) return undefined;
    let start: Start | undefined;
    await this.#wait((waiter) => {
      start = { ...waiter, path, asked, call };
      this.#starts.push(start);
    });
    return start?.entry;
  }

  /** Removes entries that the program will not call any more: the contents of a step that was settled without being run. */
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
      if (!waiter || entry.held) {
        this.#giveWhatIsNew();
        return;
      }
      if (!this.#isInOwnTurn()) return;
      this.#turns.delete(seq);
      this.#moveOn();
      waiter.resolve();
      this.drive();
      entry.deliveredAs = this.#deliveries;
      return;
    }
    this.end();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Turns that are not in the list were dropped or given up.
    this.#late.push(...this.#turns.values());
    this.#turns.clear();
    this.#giveWhatIsNew();
  }

  /** All new work that may begin, and one new end. */
  #giveWhatIsNew(): void {
    const isOpen = ({ path }: { path: string }) => this.#isOpenFor(path);
    const starts = this.#starts.filter(isOpen);
    this.#starts = this.#starts.filter((start) => !isOpen(start));
    for (const { resolve } of starts) resolve();
    const ticket = this.#nextTicket ?? 0;
    const late = this.#late[0];
    const waiter = late ?? this.#given.get(ticket);
    if (!waiter || !this.#isInOwnTurn()) return;
    if (late) this.#late.shift();
    else {
      this.#removeTicket(ticket);
      this.#given.delete(ticket);
    }
    waiter.resolve();
    this.drive();
  }

  #moveOn(): void {
    this.#next++;
    this.#patience.renew();
  }

  /**
   * Nothing more is delivered until the program has done everything that it can do now: a tick that is queued in a microtask
   * runs after that.
   */
  drive(): void {
    if (this.#isPausing) return;
    this.#isPausing = true;
    this.#deliveries++;
    queueMicrotask(() => process.nextTick(this.#endPause));
  }

  readonly #endPause = (): void => {
    this.#isPausing = false;
    this.#isTurn = true;
    this.#advance();
    this.#isTurn = false;
  };

  /**
   * An end is not delivered in the turn in which it comes, or is asked for: whatever else that turn has woken in other branches, such as
   * by a reply, would seem to be led to by it. If this is no turn of ours, one follows.
   */
  #isInOwnTurn(): boolean {
    if (this.#isTurn) return true;
    if (!this.#isTurnAsked) {
      this.#isTurnAsked = true;
      queueMicrotask(() =>
        process.nextTick(() => {
          this.#isTurnAsked = false;
          if (!this.#isPausing) this.#endPause();
        }),
      );
    }
    return false;
  }

  #watch(): void {
    if (this.#timer || this.isThrough || this.#waiters().length === 0) return;
    // Keeps the process alive, as the awaited event would; in the next tick it is no longer counted as an active resource.
    const look = () => {
      this.#timer = undefined;
      this.#look();
      this.#watch();
    };
    this.#timer = ownTimer(() => process.nextTick(look), this.#patience.limits.lookMs);
  }

  #look(): void {
    if (this.isThrough || this.#isPausing) return;
    const { entry, seq, isEnd, isRunAgain } = this.#items[this.#next]!;
    // However long it takes, also between its tries.
    const isBegunAgain = isRunAgain === true && entry.isClaimed;
    const isAwaited = this.#turns.size > 0 || this.#starts.length > 0;
    if (isBegunAgain && !isAwaited && this.#options.isAtWork?.()) {
      this.#patience.renew();
      return;
    }
    if (isEnd && entry.held && this.#turns.has(seq)) {
      this.#lookAtHeld(entry);
      return;
    }
    const isUnknown = !isEnd && this.#starts.some(({ call }) => call !== undefined);
    const verdict = isUnknown
      ? this.#patience.lookAtUnknown(() => this.#recogniseStarts())
      : this.#patience.look();
    // It may itself wait for what is recorded behind its failure. Nothing was built on the failure's place in the order.
    if (isBegunAgain && (verdict === 'never' || verdict === 'give up')) {
      this.#moveOn();
      this.#advance();
    } else if (verdict === 'never') this.breakWith(this.#options.onChanged(this.#missing(), this.#asked()));
    else if (verdict === 'give up') this.#giveUp();
    else if (verdict === 'say')
      this.#options.notify(`waits for the program to come to ${this.#missing().path}, as recorded`);
  }

  /**
   * In a program without branches no other call can come before this one has returned. Branches that come later than that are
   * still noticed, because its end has not led to them, and before anything new begins if all of them are recorded.
   */
  #lookAtHeld(entry: OrderedEntry): void {
    const verdict = this.#patience.lookAtHeld(entry.held === 'only');
    if (verdict === 'wait') return;
    entry.held = undefined;
    if (verdict === 'quiet') this.#releaseBegunBefore(this.#items[this.#next]!.seq);
    this.#advance();
  }

  /**
   * With nothing at work, another call can only be led to by this end or a later one, so it is not what is recorded as begun before
   * this end. Of many calls that were made together, one is waited for.
   */
  #releaseBegunBefore(endSeq: number): void {
    for (const { entry, seq, isEnd } of this.#items.slice(this.#next + 1)) {
      const isBegun = entry.seq !== undefined && entry.seq < endSeq;
      if (isEnd && entry.held && isBegun && this.#turns.has(seq)) entry.held = undefined;
    }
  }

  /** Returns whether there was any. */
  #recogniseStarts(): boolean {
    const missing = this.#items.slice(this.#next).flatMap(({ entry, isEnd }) => (isEnd ? [] : [entry]));
    const calls = this.#starts.flatMap(({ call }) => call ?? []);
    const found = this.#options.recognise?.(missing, calls);
    if (!found || found.size === 0) return false;
    const known: Start[] = [];
    const rest: Start[] = [];
    for (const start of this.#starts) {
      const entry = start.call && found.get(start.call);
      if (entry) Object.assign(start, { entry });
      (entry ? known : rest).push(start);
    }
    this.#starts = rest;
    for (const { entry, resolve } of known) {
      entry!.isClaimed = true;
      resolve();
    }
    this.#patience.renew();
    this.#advance();
    return true;
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

  /**
   * Called when the run is cancelled or can't be recorded any more: the program will not repeat what is recorded, so everything that
   * waits for its turn rejects at once.
   */
  breakWith(error: Error): void {
    this.#isBroken = true;
    const waiters = [...this.#waiters(), ...this.#late.splice(0)];
    this.#items = [];
    this.#turns.clear();
    this.#given.clear();
    this.#tickets = [];
    this.#starts = [];
    for (const { reject } of waiters) reject(error);
    this.end();
  }

  /** An entry that was given up, and that the program has not called since. */
  get neverAsked(): OrderedEntry | undefined {
    return this.#givenUp.find(({ isClaimed }) => !isClaimed);
  }

  #giveUp(): void {
    const { path } = this.#missing();
    this.#givenUp = this.#items.slice(this.#next).map(({ entry }) => entry);
    this.#options.notify(
      `the program has not come to ${path}, which is recorded, for ${this.#patience.limits.giveUpMs / 1000} s: ` +
        'it goes on, and the order of what overlapped is no longer kept',
    );
    this.#items = [];
    this.#advance();
  }
}
