/**
 * An open store: its issues, the history of one, and the bundle of a death. The index in a folder can be used by one process
 * at a time, so it is released soon after the last request, and from time to time between requests, so that a sender gets its
 * turn.
 */

import type { Issue, IssueStory } from '../../model/fleet/issue.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import { mapStrings } from '../../report/map-strings.ts';
import { connectStore } from '../../store/connect.ts';
import type { FleetStore, FoundBundle } from '../../store/fleet-store.ts';
import { isFleetPlace } from '../../store/places.ts';

/**
 * How long the index stays open after the last request, and at most however many requests there are. A sender waits for a
 * minute.
 */
const usualIdleMs = 5_000;
const mostHeldMs = 20_000;
const mostDeaths = 200;

export class Fleet {
  readonly #place: string;
  readonly #idleMs: number;
  /** A name to show to users, without a password. */
  readonly name: string;
  #store: Promise<FleetStore> | undefined;
  #openedAt = 0;
  #asking = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(place: string, name: string, idleMs = usualIdleMs) {
    this.#idleMs = idleMs;
    this.#place = place;
    this.name = name;
  }

  /** All issues, including those that are no faults; texts are escaped. Throws `held`, `unwritable`. */
  list(): Promise<Issue[]> {
    return this.#ask((store) => store.list({ all: true })).then(safe);
  }

  /** By a prefix of its id. Throws `not-found`, and like `list`. */
  story(id: string): Promise<IssueStory> {
    return this.#ask((store) => store.show(id, { mostDeaths })).then(safe);
  }

  /** Undefined if the store has no such death. Throws `not-found` if its file is gone, and like `list`. */
  findBundle(bundle: string): Promise<FoundBundle | undefined> {
    return this.#ask((store) => store.find(bundle));
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const open = this.#store;
    this.#store = undefined;
    // The error of a store that could not be opened has been reported to its caller.
    await open?.then((store) => store.close()).catch(() => {});
  }

  async #ask<Result>(question: (store: FleetStore) => Promise<Result>): Promise<Result> {
    clearTimeout(this.#timer);
    const isOverdue = Date.now() - this.#openedAt > mostHeldMs && this.#asking === 0;
    if (isOverdue && !isFleetPlace(this.#place)) await this.close();
    this.#asking++;
    try {
      return await question(await this.#open());
    } finally {
      this.#asking--;
      if (this.#asking === 0 && !isFleetPlace(this.#place))
        this.#timer = setTimeout(() => void this.close(), this.#idleMs).unref();
    }
  }

  #open(): Promise<FleetStore> {
    if (this.#store) return this.#store;
    this.#openedAt = Date.now();
    const opening = connectStore(this.#place, { mustExist: true });
    this.#store = opening;
    opening.catch(() => {
      if (this.#store === opening) this.#store = undefined;
    });
    return opening;
  }
}

const safe = <Value extends object>(value: Value): Value => mapStrings(value, escapeTerminal);
