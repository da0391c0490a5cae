/** Requests to a service. Its answers are untrusted; its failures become errors of ours. */
import { AgentdumpError, type ErrorCode } from '../../errors.ts';
import type { Failure, Fields } from './protocol.ts';

export interface Asking {
  method?: 'GET' | 'POST' | 'PUT';
  json?: object;
  /** Opens what is sent; closed here. */
  body?: () => AsyncIterable<Uint8Array>;
  headers?: Record<string, string>;
  /** Asked once, for so long: there will be other occasions. */
  withinMs?: number;
}

/** How long to wait for a service that is being restarted. */
const patienceMs = 10_000;
const firstPauseMs = 100;
/** For an answer to begin; while one is being read, the limit of `fetch` holds, five minutes without a byte. */
const answerMs = 60_000;
/** The same after the last byte of an upload that this process has sent, which may still be on its way. */
const uploadedMs = 180_000;

const knownCodes: readonly ErrorCode[] = [
  'usage',
  'not-found',
  'over-limit',
  'held',
  'malformed-input',
  'unwritable',
];

export class ServiceClient {
  readonly base: string;
  readonly #token: string;

  readonly #limits: { answerMs: number; uploadedMs: number };

  constructor(base: string, token: string, limits = { answerMs, uploadedMs }) {
    this.base = base;
    this.#token = token;
    this.#limits = limits;
  }

  /** Retries what can be asked twice: everything without a body that is read once. Throws `unwritable` and what the service refuses. */
  async ask(path: string, asking: Asking = {}): Promise<Response> {
    const until = Date.now() + (asking.body || asking.withinMs ? 0 : patienceMs);
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

  /** @param hasForm whether an answer is what was asked for: another program may be at the address, or a later service. */
  async askJson<Value>(
    path: string,
    hasForm: (fields: Fields) => boolean,
    asking: Asking = {},
  ): Promise<Value> {
    const response = await this.ask(path, asking);
    let value: unknown;
    try {
      value = await response.json();
    } catch (error) {
      throw this.#failure('its answer is no JSON', true, error);
    }
    if (typeof value === 'object' && value !== null && hasForm(value as Fields)) return value as Value;
    throw this.#failure('its answer is none of a store', false);
  }

  async #askOnce(path: string, asking: Asking): Promise<Response> {
    let response: Response;
    const { method = 'GET', json, body, headers } = asking;
    const silence = new AbortController();
    const limitMs = asking.withinMs ?? (body ? this.#limits.uploadedMs : this.#limits.answerMs);
    const timer = setTimeout(() => silence.abort(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
    try {
      response = await fetch(new URL(path, this.base), {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(json && { 'content-type': 'application/json' }),
          ...headers,
        },
        // A redirect would hand the token to another server.
        redirect: 'error',
        signal: silence.signal,
        ...(json && { body: JSON.stringify(json) }),
        ...(body && { body: told(body, () => timer.refresh()), duplex: 'half' }),
      } as RequestInit);
    } catch (error) {
      const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
      throw this.#failure(cause?.code ?? cause?.message ?? message, true, error);
    } finally {
      clearTimeout(timer);
    }
    if (response.ok) return response;
    throw await this.#refusal(response);
  }

  async #refusal(response: Response): Promise<AgentdumpError> {
    const { status } = response;
    const text = await response.text().catch(() => '');
    const { code, message } = readFailure(text) ?? { code: '', message: `status ${status}` };
    if (status === 401)
      return new AgentdumpError('usage', `${this.base} does not accept the token: AGENTDUMP_STORE_TOKEN`, {
        argument: 'AGENTDUMP_STORE_TOKEN',
      });
    if (status === 403) return new AgentdumpError('usage', message, { argument: 'AGENTDUMP_STORE_TOKEN' });
    const known = knownCodes.find((one) => one === code);
    if (known && known !== 'unwritable') return new AgentdumpError(known, message, { name: this.base });
    // What failed within the service (500) fails again; what is before or behind it may come back.
    return this.#failure(message, status > 500, undefined, status);
  }

  #failure(reason: string, temporary: boolean, cause?: unknown, status?: number): AgentdumpError {
    const details = { path: this.base, reason, temporary, ...(status !== undefined && { status }) };
    return new AgentdumpError('unwritable', `${this.base}: ${reason}`, details, cause);
  }
}

/** Opened when it is asked for first, so that nothing stays open if the service is not there. */
async function* told(open: () => AsyncIterable<Uint8Array>, onChunk: () => void) {
  for await (const chunk of open()) {
    onChunk();
    yield chunk;
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
