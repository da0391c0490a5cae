/**
 * Commands and events of the Chrome DevTools Protocol over a WebSocket. Answers are matched by id, and each has a time limit.
 * Independent of the protocol's domains. Source: chromedevtools.github.io/devtools-protocol, v8-inspector.
 */
import { connectWebSocket, type TextSocket } from './websocket.ts';

type Parameters = Record<string, unknown>;

/**
 * Interval at which something is sent while answers are pending. The inspector's small packets wait for our acknowledgement,
 * which the kernel delays by 40 ms unless it can be sent with data (Nagle's algorithm and delayed ACK).
 */
const nudgeMs = 2;
const nudge = JSON.stringify({ id: 0, method: 'Runtime.getIsolateId' });

interface Waiting {
  resolve(result: Parameters): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

export class RemoteDebugger {
  #socket: TextSocket | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, (parameters: Parameters) => void>();
  readonly #timeoutMs: number;
  #nudging: NodeJS.Timeout | undefined;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  #noteClosed = () => {};

  private constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.closed = new Promise((resolve) => {
      this.#noteClosed = resolve;
    });
  }

  static async connect(url: string, timeoutMs = 10_000): Promise<RemoteDebugger> {
    const remote = new RemoteDebugger(timeoutMs);
    remote.#socket = await connectWebSocket(
      url,
      { onText: (text) => remote.#take(text), onClose: () => remote.#fail() },
      timeoutMs,
    );
    return remote;
  }

  /** One listener per event; a later one replaces it. */
  on(event: string, listener: (parameters: Parameters) => void): void {
    this.#listeners.set(event, listener);
  }

  /** Rejects with the protocol's error, after the time limit, or when the connection closes. */
  send(method: string, params: Parameters = {}, timeoutMs = this.#timeoutMs): Promise<Parameters> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`no answer to ${method} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#socket?.send(JSON.stringify({ id, method, params }));
      this.#nudging ??= setInterval(() => this.#nudge(), nudgeMs);
    });
  }

  close(): void {
    this.#socket?.close();
  }

  #nudge(): void {
    if (this.#waiting.size > 0) {
      this.#socket?.send(nudge);
      return;
    }
    clearInterval(this.#nudging);
    this.#nudging = undefined;
  }

  #take(text: string): void {
    const message = JSON.parse(text) as {
      id?: number;
      method?: string;
      params?: Parameters;
      result?: Parameters;
      error?: { message?: string };
    };
    if (message.method !== undefined) this.#listeners.get(message.method)?.(message.params ?? {});
    if (message.id === undefined) return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    if (message.error) waiting.reject(new Error(message.error.message ?? 'refused'));
    else waiting.resolve(message.result ?? {});
  }

  #fail(): void {
    clearInterval(this.#nudging);
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error('the connection to the inspector ended'));
    }
    this.#waiting.clear();
    this.#noteClosed();
  }
}
