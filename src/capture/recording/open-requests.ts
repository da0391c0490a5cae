/**
 * Which requests the program's servers are answering, for the journal, because a killed process can't report it. Checked once
 * a second, and written if it has changed. Quick requests are left out, because they would fill the journal of a busy server.
 */
import type { OpenRequestsPayload } from '../../journal/layout/records.ts';
import { describeRequest } from './describe-request.ts';
import type { RequestWatch } from './request-watch.ts';

const leastAgeMs = 200;
const mostListed = 10;
/** While it stays the same, it is written again after this many looks. */
const againAfterLooks = 10;
const none = '0';
const { now } = Date;

export class OpenRequests {
  readonly #requests: Pick<RequestWatch, 'open'>;
  #written = none;
  #looks = 0;

  constructor(requests: Pick<RequestWatch, 'open'>) {
    this.#requests = requests;
  }

  /** Returns what is to be written now, oldest first; undefined if the journal already contains it. */
  look(): OpenRequestsPayload | undefined {
    const at = now();
    const open = this.#requests.open().filter(({ startedMs }) => at - startedMs >= leastAgeMs);
    const listed = open.slice(0, mostListed);
    const said = [open.length, ...listed.map(({ number }) => number)].join(' ');
    const isDue = said !== none && ++this.#looks >= againAfterLooks;
    if (said === this.#written && !isDue) return undefined;
    this.#written = said;
    this.#looks = 0;
    return { leastAgeMs, inFlight: open.length, requests: listed.map((one) => describeRequest(one, at)) };
  }

  /** Older segments of the journal were dropped. */
  forget(): void {
    this.#written = none;
  }
}
