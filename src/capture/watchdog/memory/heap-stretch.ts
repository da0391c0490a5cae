/**
 * Whose work it is that fills the heap while the main thread does not return to its event loop. The watchdog looks in passing.
 * Each look queues a microtask: looks between which it did not run belong to one stretch of synchronous code, in which nothing
 * else can have run.
 */
import type { HeapGrowth } from '../../../bundle/layout/bundle.ts';
import { describeRequest } from '../../recording/describe-request.ts';
import { ancestors, isRequest, readOrigin } from '../../recording/read-origin.ts';
import type { Origins } from '../../recording/request-watch.ts';

export interface Look {
  /** How many of the microtasks that earlier looks queued have run. */
  ran: number;
  /** The request in whose context the running code is. */
  request: object | undefined;
  /** In use in the old generation, in bytes. */
  used: number;
}

export class HeapStretch {
  #last: Look | undefined;
  #from = 0;

  /** The heap at the first look of the stretch, in bytes; undefined at the first one, or without a request. */
  see(look: Look): number | undefined {
    const last = this.#last;
    this.#last = look;
    const goesOn = last?.ran === look.ran && last.request === look.request;
    if (goesOn && look.request) return this.#from;
    this.#from = look.used;
    return undefined;
  }
}

/** Must be called in the running code's own context: in passing. */
export class StretchWatch {
  readonly #origins: Origins;
  readonly #stretch = new HeapStretch();
  #ran = 0;

  constructor(origins: Origins) {
    this.#origins = origins;
  }

  look(used: number): HeapGrowth | undefined {
    const request = ancestors(readOrigin(this.#origins).current).find(isRequest);
    const fromBytes = this.#stretch.see({ ran: this.#ran, request, used });
    void Promise.resolve().then(() => {
      this.#ran++;
    });
    return fromBytes === undefined || !request
      ? undefined
      : { fromBytes, toBytes: used, request: describeRequest(request) };
  }
}
