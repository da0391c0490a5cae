/**
 * A request to an MCP server over HTTP ("streamable HTTP" transport): JSON-RPC in the body, the answer as JSON or as
 * server-sent events. If the body is not JSON-RPC, it is recorded like any other request.
 */
import { ContentDecoder } from '../http/content-decoder.ts';
import type { Exchange, ExchangeStart, HeaderLookup } from '../http/exchange.ts';
import { openHttpExchange } from '../http/http-exchange.ts';
import { httpLogOf } from '../http/http-log.ts';
import { SseDecoder } from '../http/sse.ts';
import { McpMessages } from '../integrations/mcp-messages.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { isObject, parseJson } from './json.ts';

const bodyLimitBytes = 4 * 1024 * 1024;
const serversOf = new WeakMap<AgentRecorder, Map<string, McpMessages>>();
const serverLimit = 100;

/** Whether a request may be one: an MCP client must accept both forms of answer. */
export function mayBeMcp({ method, header }: ExchangeStart): boolean {
  if (method !== 'POST') return false;
  const accept = header('accept') ?? '';
  return accept.includes('application/json') && accept.includes('text/event-stream');
}

export class McpExchange implements Exchange {
  readonly #recorder: AgentRecorder;
  readonly #start: ExchangeStart;
  readonly #sse = new SseDecoder();
  #body: Uint8Array[] = [];
  #answer: Uint8Array[] = [];
  #bytes = 0;
  #isStream = false;
  #decoder: ContentDecoder | undefined;
  #request: unknown;
  #server: McpMessages | undefined;
  /**
   * The recording as an ordinary request: if the body is not JSON-RPC, or if the content of ordinary requests is recorded.
   */
  #other: Exchange | undefined;

  constructor(recorder: AgentRecorder, start: ExchangeStart) {
    this.#recorder = recorder;
    this.#start = start;
  }

  requestChunk(chunk: Uint8Array | string): void {
    this.#keep(this.#body, typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }

  requestSent(): void {
    if (this.#server || this.#other) return;
    const body = this.#body;
    this.#request = parseJson(Buffer.concat(body).toString('utf8'));
    this.#body = [];
    this.#bytes = 0;
    const isRpc = isObject(this.#request) && this.#request['jsonrpc'] === '2.0';
    if (isRpc) {
      this.#server = findServer(this.#recorder, this.#start);
      this.#server?.sent(this.#request);
    }
    if ((!isRpc || this.#recorder.httpLevel === 'content') && httpLogOf(this.#recorder).mayRecord())
      this.#other = openHttpExchange(this.#recorder, this.#start, body);
  }

  responseHead(status: number, header: HeaderLookup): void {
    this.requestSent();
    this.#other?.responseHead(status, header);
    this.#isStream = (header('content-type') ?? '').includes('text/event-stream');
    this.#decoder = new ContentDecoder(header('content-encoding'));
    if (status >= 400) this.#server?.refused(this.#request, status);
  }

  responseChunk(wire: Uint8Array): void {
    this.#other?.responseChunk(wire);
    const chunk = this.#server && this.#decoder?.push(wire);
    if (!chunk) return;
    if (this.#isStream) this.#sse.push(chunk, ({ data }) => this.#server?.received(parseJson(data)));
    else this.#keep(this.#answer, chunk);
  }

  end(): void {
    this.#other?.end();
    this.#decoder?.end();
    if (!this.#isStream && this.#answer.length)
      this.#server?.received(parseJson(Buffer.concat(this.#answer).toString('utf8')));
    this.#answer = [];
  }

  fail(error: unknown): void {
    // The connection failed, so no body was sent: only the `accept` header is known of the request.
    if (!this.#other) this.#server ??= findServer(this.#recorder, this.#start);
    this.#other?.fail(error);
    this.#server?.lost(this.#request, error);
  }

  #keep(pieces: Uint8Array[], chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= bodyLimitBytes) pieces.push(chunk);
    else pieces.length = 0;
  }
}

/** One server per host and path. Undefined above a limit that no agent reaches. */
function findServer(recorder: AgentRecorder, { host, port, path }: ExchangeStart): McpMessages | undefined {
  const servers = serversOf.get(recorder) ?? new Map<string, McpMessages>();
  serversOf.set(recorder, servers);
  const place = `${host}${port === undefined ? '' : `:${port}`}`;
  let server = servers.get(place + path);
  if (!server && servers.size < serverLimit) {
    server = new McpMessages(recorder, 'tcp', place);
    servers.set(place + path, server);
  }
  return server;
}
