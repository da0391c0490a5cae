/** Asks a program's health endpoint. No redirects are followed, no body is read: the status line is the answer. */
import { type ClientRequest, get as getClear } from 'node:http';
import type { Complaint, HealthCheck, HealthLimits } from './limits.ts';

/** After a failure, and while the program starts. */
const againMs = 100;

/** Undefined when it answered well in time; else what it did instead. */
export async function askUrl(url: string, timeoutMs: number): Promise<string | undefined> {
  const get = url.startsWith('https:') ? (await import('node:https')).get : getClear;
  return new Promise((resolve) => {
    let request: ClientRequest;
    const timer = setTimeout(() => end(`no answer within ${timeoutMs} ms`), timeoutMs);
    const end = (failure?: string) => {
      clearTimeout(timer);
      request?.destroy();
      resolve(failure);
    };
    // A connection of its own each time: one that is kept alive would hide that no new one is taken.
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

  /** `onWell` is called at each good answer, `onDoubt` at each bad one. */
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
