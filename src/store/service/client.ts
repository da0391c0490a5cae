/** Requests to a service. Its answers are untrusted; its failures become errors of ours. */
import { AgentdumpError, type ErrorCode } from '../../errors.ts';
import type { Failure } from './protocol.ts';

export interface Asking {
  method?: 'GET' | 'POST' | 'PUT';
  json?: object;
  body?: ReadableStream;
  headers?: Record<string, string>;
}

/** How long to wait for a service that is being restarted. */
const patienceMs = 10_000;
const firstPauseMs = 100;
/** For an answer without an upload; the analysis of an uploaded bundle has no limit here. */
const answerMs = 60_000;

const knownCodes: readonly ErrorCode[] = [
  'usage',
  'not-found',
  'over-limit',
  'held',
  'malformed-input',
  'unwritable',
];

export class ServiceClient {
  readonly #base: string;
  readonly #token: string;

  constructor(base: string, token: string) {
    this.#base = base;
    this.#token = token;
  }

  /** Retries what can be asked twice: everything without a body that is read once. Throws `unwritable` and what the service refuses. */
  async ask(path: string, asking: Asking = {}): Promise<Response> {
    const until = Date.now() + (asking.body ? 0 : patienceMs);
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      try {
        return await this.#askOnce(path, asking);
      } catch (error) {
        const isTemporary = error instanceof AgentdumpError && error.details['temporary'] === true;
        if (!isTemporary || Date.now() + pauseMs > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async askJson<Value>(path: string, asking: Asking = {}): Promise<Value> {
    const response = await this.ask(path, asking);
    try {
      return (await response.json()) as Value;
    } catch (error) {
      throw this.#failure('its answer is no JSON', true, error);
    }
  }

  async #askOnce(path: string, { method = 'GET', json, body, headers }: Asking): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(new URL(path, this.#base), {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(json && { 'content-type': 'application/json' }),
          ...headers,
        },
        // A redirect would hand the token to another server.
        redirect: 'error',
        ...(json && { body: JSON.stringify(json) }),
        ...(body && { body, duplex: 'half' }),
        ...(!body && { signal: AbortSignal.timeout(answerMs) }),
      } as RequestInit);
    } catch (error) {
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
      throw this.#failure(cause?.code ?? cause?.message ?? message, true, error);
    }
    if (response.ok) return response;
    throw await this.#refusal(response);
  }

  async #refusal(response: Response): Promise<AgentdumpError> {
    const { status } = response;
    const text = await response.text().catch(() => '');
    const { code, message } = readFailure(text) ?? { code: '', message: `status ${status}` };
    if (status === 401)
      return new AgentdumpError('usage', `${this.#base} does not accept the token: AGENTDUMP_STORE_TOKEN`, {
        argument: 'AGENTDUMP_STORE_TOKEN',
      });
    if (status === 403) return new AgentdumpError('usage', message, { argument: 'AGENTDUMP_STORE_TOKEN' });
    if (status === 429) return this.#failure(message, false);
    const known = knownCodes.find((one) => one === code);
    if (known && known !== 'unwritable') return new AgentdumpError(known, message, { name: this.#base });
    return this.#failure(message, status >= 500);
  }

  #failure(reason: string, temporary: boolean, cause?: unknown): AgentdumpError {
    const details = { path: this.#base, reason, temporary };
    return new AgentdumpError('unwritable', `${this.#base}: ${reason}`, details, cause);
  }
}

function readFailure(text: string): { code: string; message: string } | undefined {
  try {
    const { error } = JSON.parse(text) as Failure;
    return typeof error.code === 'string' && typeof error.message === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
