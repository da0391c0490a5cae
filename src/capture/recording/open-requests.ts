/**
 * Which requests the program's servers are answering, for the journal: a process that is killed can't say it. Looked at once
 * a second, and written when it has changed. Quick ones are left out: they would fill the journal of a busy server.
 */
import type { OpenRequestsPayload } from '../../journal/layout/records.ts';
import { describeRequest } from './describe-request.ts';
import type { RequestWatch } from './request-watch.ts';

const leastAgeMs = 200;
const mostListed = 10;
/** So often it is said again while it stays the same. */
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

  /** What is to be written now, the oldest first; undefined while that is in the journal already. */
  look(): OpenRequestsPayload | undefined {
    const at = now();
    const open = this.#requests.open().filter(({ startedMs }) => at - startedMs >= leastAgeMs);
    const listed = open.slice(0, mostListed);
    const said = [open.length, ...listed.map(({ number }) => number)].join(' ');
    const isDue = said !== none && ++this.#looks >= againAfterLooks;
    if (said === this.#written && !isDue) return undefined;
    this.#written = said;
    this.#looks = 0;
    return { leastAgeMs, inFlight: open.length, requests: listed.map(describeRequest) };
  }

  /** Older segments of the journal are dropped. */
  forget(): void {
    this.#written = none;
  }
}
