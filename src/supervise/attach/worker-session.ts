/**
 * The inspector session of a worker thread through that of its main thread: commands are wrapped into messages of the
 * NodeWorker domain, and answers are matched by id. Source: Node's src/inspector/node_protocol.pdl.
 */
import type { RemoteDebugger } from './remote-debugger.ts';

type Parameters = Record<string, unknown>;

const answerMs = 1500;

export class WorkerSession {
  readonly #remote: RemoteDebugger;
  readonly #sessionId: string;
  readonly #listeners = new Map<string, (parameters: Parameters) => void>();
  readonly #waiting = new Map<
    number,
    (answer: { result?: Parameters; error?: { message?: string } }) => void
  >();
  #lastId = 0;

  constructor(remote: RemoteDebugger, sessionId: string) {
    this.#remote = remote;
    this.#sessionId = sessionId;
  }

  on(event: string, listener: (parameters: Parameters) => void): void {
    this.#listeners.set(event, listener);
  }

  async send(method: string, params: Parameters = {}): Promise<Parameters> {
    const id = ++this.#lastId;
    const answered = new Promise<Parameters>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`no answer to ${method} within ${answerMs} ms`));
      }, answerMs);
      this.#waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        if (error) reject(new Error(error.message ?? 'refused'));
        else resolve(result ?? {});
      });
    });
    const message = JSON.stringify({ id, method, params });
    const [answer] = await Promise.all([
      answered,
      this.#remote.send('NodeWorker.sendMessageToWorker', { sessionId: this.#sessionId, message }),
    ]);
    return answer;
  }

  take(text: string): void {
    const message = JSON.parse(text) as { id?: number; method?: string; params?: Parameters };
    if (message.method !== undefined) this.#listeners.get(message.method)?.(message.params ?? {});
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (message.id !== undefined) this.#waiting.delete(message.id);
    waiting?.(message as Parameters);
  }
}
