/**
 * Notifications about runs by LISTEN, on one connection for all listeners of this process. A broken connection is replaced;
 * listeners find what was missed meanwhile by polling.
 */
import { newsChannel } from './dispatch.ts';
import { isShortened } from './keys.ts';
import type { PostgresClient, PostgresPool } from './pool.ts';

const againMs = 2_000;

export class PostgresNews {
  readonly #pool: PostgresPool;
  readonly #listeners = new Set<(runId?: string) => void>();
  #client: PostgresClient | undefined;
  #isConnecting = false;
  #again: NodeJS.Timeout | undefined;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  watch(tell: (runId?: string) => void): () => void {
    // A separate function, so that a callback that is registered twice is called twice, and removed once per registration.
    const listener = (runId?: string) => tell(runId);
    this.#listeners.add(listener);
    void this.#connect();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#letGo();
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#letGo();
  }

  #letGo(): void {
    clearTimeout(this.#again);
    this.#client?.release(true);
    this.#client = undefined;
  }

  async #connect(): Promise<void> {
    if (this.#client || this.#isConnecting || !this.#pool.connect) return;
    this.#isConnecting = true;
    let client: PostgresClient | undefined;
    try {
      client = await this.#pool.connect();
      const made = client;
      made.on('error', () => this.#lose(made));
      made.on('end', () => this.#lose(made));
      made.on('notification', ({ payload }) => {
        if (payload === undefined) return;
        const runId = isShortened(payload) ? undefined : payload;
        for (const tell of [...this.#listeners]) tell(runId);
      });
      await made.query(`listen ${newsChannel}`);
      made.unref?.();
      this.#client = made;
      if (this.#listeners.size === 0) this.#letGo();
    } catch {
      client?.release(true);
      this.#tryAgain();
    } finally {
      this.#isConnecting = false;
    }
  }

  #lose(client: PostgresClient): void {
    if (this.#client !== client) return;
    this.#letGo();
    this.#tryAgain();
  }

  #tryAgain(): void {
    if (this.#listeners.size > 0) this.#again = setTimeout(() => void this.#connect(), againMs).unref();
  }
}
