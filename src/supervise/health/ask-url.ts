/** Checks a program's health endpoint. Redirects are not followed and no body is read: only the status line counts. */
import { type ClientRequest, get as getClear } from 'node:http';
import type { Complaint, HealthCheck, HealthLimits } from './limits.ts';

/** Interval after a failure, and while the program starts. */
const againMs = 100;

/** Undefined for a status of 200 to 399 in time; otherwise a description of what happened instead. */
async function askUrl(url: string, timeoutMs: number): Promise<string | undefined> {
  const get = url.startsWith('https:') ? (await import('node:https')).get : getClear;
  return new Promise((resolve) => {
    let request: ClientRequest;
    const timer = setTimeout(() => end(`no answer within ${timeoutMs} ms`), timeoutMs);
    const end = (failure?: string) => {
      clearTimeout(timer);
      request?.destroy();
      resolve(failure);
    };
    // A new connection each time: a kept-alive one would hide that the server accepts no new ones.
    request = get(url, { agent: false }, ({ statusCode = 0 }) =>
      end(statusCode >= 200 && statusCode < 400 ? undefined : `status ${statusCode}`),
    );
    request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

export class UrlCheck implements HealthCheck {
  everyMs = againMs;
  readonly #url: string;
  readonly #limits: HealthLimits;
  readonly #listener: { onWell(): void; onDoubt(): void };
  readonly #startedAt = performance.now();
  #hasBeenWell = false;
  #failures = 0;

  /** `onWell` is called for each good answer, `onDoubt` for each bad one. */
  constructor(url: string, limits: HealthLimits, listener: { onWell(): void; onDoubt(): void }) {
    this.#url = url;
    this.#limits = limits;
    this.#listener = listener;
  }

  async look(): Promise<Complaint | undefined> {
    const failure = await askUrl(this.#url, this.#limits.timeoutMs);
    if (failure === undefined) {
      this.#hasBeenWell = true;
      this.#failures = 0;
      this.everyMs = this.#limits.everyMs;
      this.#listener.onWell();
      return undefined;
    }
    this.everyMs = againMs;
    const livedMs = performance.now() - this.#startedAt;
    if (!this.#hasBeenWell && livedMs < this.#limits.startGraceMs) return undefined;
    this.#listener.onDoubt();
    if (++this.#failures < this.#limits.failures) return undefined;
    const what = `${this.#url} failed ${this.#failures} times in a row: ${failure}`;
    return { level: 'health', check: 'url', what };
  }

  forgive(): void {
    this.#failures = 0;
  }
}
