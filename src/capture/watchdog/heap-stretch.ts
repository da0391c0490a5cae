/**
 * Whose work it is that fills the heap while the main thread does not return to its event loop. The watchdog looks in passing,
 * each time after the main thread has left a request for a sign of life unanswered. Looks between two answers, in one callback
 * and in the context of one request, belong to one stretch: the loop did not turn in between, and no other callback ran.
 */
import { asyncHooks } from '../../agent/node-modules.ts';
import type { HeapGrowth } from '../../bundle/layout/bundle.ts';
import { describeRequest } from '../recording/describe-request.ts';
import { ancestors, isRequest, readOrigin } from '../recording/read-origin.ts';
import type { Origins } from '../recording/request-watch.ts';

export interface Look {
  /** How often the main thread has answered so far. */
  answers: number;
  /** Node's id of the running callback. */
  callback: number;
  /** The request in whose context it runs. */
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
    const goesOn =
      last?.answers === look.answers && last.callback === look.callback && last.request === look.request;
    if (goesOn && look.request) return this.#from;
    this.#from = look.used;
    return undefined;
  }
}

/** Must be called in the running code's own context: in passing. */
export class StretchWatch {
  readonly #origins: Origins;
  readonly #stretch = new HeapStretch();

  constructor(origins: Origins) {
    this.#origins = origins;
  }

  look(answers: number, used: number): HeapGrowth | undefined {
    const request = ancestors(readOrigin(this.#origins).current).find(isRequest);
    const callback = asyncHooks().executionAsyncId();
    const fromBytes = this.#stretch.see({ answers, callback, request, used });
    return fromBytes === undefined || !request
      ? undefined
      : { fromBytes, toBytes: used, request: describeRequest(request) };
  }
}
