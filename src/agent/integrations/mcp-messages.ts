/**
 * JSON-RPC messages of one MCP server, independent of the transport (Model Context Protocol, revision 2025-06-18). Tool calls
 * are recorded as tool events, other messages with their method.
 */

import { arrayOf, isObject, type JsonObject, objectOf, parseJson, stringOf } from '../calls/json.ts';
import { errorOf } from '../http/call-error.ts';
import { BoundedMap } from '../record/bounded-map.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { FrameworkRecorder, failed, finished } from './framework.ts';

const callLimit = 1_000;
/** A server that logs to its output would fill the journal. */
const mostUnreadable = 20;
const mostQuoted = 300;

export class McpMessages {
  readonly id: string;
  readonly #recorder: AgentRecorder;
  readonly #framework: FrameworkRecorder;
  /** Tool calls without an answer, by their request's id: the objects under which their places are known. */
  readonly #calls = new BoundedMap<object>(callLimit);
  #unreadable = 0;

  /** `transport` as in OpenTelemetry's `network.transport`. `command` is the command that was started, or the host. */
  constructor(recorder: AgentRecorder, transport: 'pipe' | 'tcp', command: string, pid?: number) {
    this.#recorder = recorder;
    this.#framework = new FrameworkRecorder(recorder, 'mcp');
    this.id = recorder.nextId('x');
    const facts = { server: this.id, transport };
    recorder.report('mcp.start', pid === undefined ? facts : { ...facts, pid }, { command });
  }

  sent(rpc: unknown): void {
    if (!isObject(rpc)) return;
    if (rpc['method'] !== 'tools/call') {
      this.#note(rpc, 'sent');
      if (rpc['method'] === 'notifications/cancelled') this.#cancelled(objectOf(rpc['params']));
    } else {
      const { name, arguments: given } = objectOf(rpc['params']);
      const call = { name: stringOf(name) ?? 'unknown', arguments: given };
      const key = String(rpc['id']);
      const { tool } = this.#framework.startTool(key, call, this.#recorder.scope);
      const begun = {};
      this.#calls.set(key, begun);
      this.#recorder.sites.begin(begun, `call of tool ${call.name} (${tool})`);
    }
  }

  /** A line of its output. What is no message is dropped by the client, and with it an answer that it may have broken. */
  receivedLine(line: string): void {
    const rpc = parseJson(line);
    if (isObject(rpc) || Array.isArray(rpc) || line.trim() === '') this.received(rpc);
    else if (this.#unreadable++ < mostUnreadable)
      this.#recorder.report(
        'mcp.message',
        { server: this.id, direction: 'received' },
        { rpc: {}, unreadable: line.slice(0, mostQuoted) },
      );
  }

  received(rpc: unknown): void {
    if (!isObject(rpc)) return;
    const key = String(rpc['id']);
    if (rpc['method'] === undefined && this.#framework.scopeOf(key)) this.#answered(key, rpc);
    else this.#note(rpc, 'received');
  }

  /** The request will get no answer: the server was unreachable or has exited. */
  lost(rpc: unknown, error: unknown): void {
    this.#framework.endTool(String(objectOf(rpc)['id']), failed(error));
    this.#recorder.report('mcp.end', { server: this.id }, { error: errorOf(error) });
  }

  /** The server answered the request with an HTTP error, so no message will follow. */
  refused(rpc: unknown, status: number): void {
    this.#framework.endTool(
      String(objectOf(rpc)['id']),
      failed({ message: `HTTP status ${status}`, code: status }),
    );
  }

  /** The server has exited: what it had not answered gets no answer any more. */
  ended(): void {
    for (const [key] of this.#calls.latest(callLimit))
      this.#willFail(key, 'MCP error -32000: Connection closed');
    this.#framework.endTools(failed({ message: 'the server ended without an answer' }));
  }

  /** The client gave the request up; it ignores an answer that comes later. */
  #cancelled({ requestId, reason }: JsonObject): void {
    const message = stringOf(reason) ?? 'aborted by the client';
    // The reason is the text of the client's error: a time limit is a failure, an abort is not.
    const status = /abort/i.test(message) ? 'aborted' : 'failed';
    this.#willFail(String(requestId), message);
    this.#framework.endTool(String(requestId), { status, error: { message } });
  }

  /** `text`: of the error that the client's package will make of it (@modelcontextprotocol/sdk 1.0 to 1.32). */
  #willFail(key: string, text: string): void {
    this.#recorder.sites.willFail(this.#calls.get(key), text);
    this.#calls.delete(key);
  }

  #answered(key: string, rpc: JsonObject): void {
    const { isError, content, structuredContent } = objectOf(rpc['result']);
    if (rpc['error'] !== undefined) {
      const { code, message } = objectOf(rpc['error']);
      // Of another kind, the client's package rejects the answer.
      if (typeof code === 'number' && typeof message === 'string')
        this.#willFail(key, `MCP error ${code}: ${message}`);
      else this.#calls.delete(key);
      this.#framework.endTool(key, failed(rpc['error']));
      return;
    }
    this.#calls.delete(key);
    if (isError === true) {
      const message = firstText(content);
      const error = { type: 'tool_error', ...(message !== undefined && { message }) };
      this.#framework.endTool(key, { status: 'failed', error, result: content });
    } else this.#framework.endTool(key, finished(structuredContent ?? content));
  }

  /** Records the kind of a message, without its content. */
  #note({ id, method, error }: JsonObject, direction: 'sent' | 'received'): void {
    const rpc = {
      ...(id === undefined ? {} : { id }),
      ...(method === undefined ? {} : { method }),
      ...(error === undefined ? {} : { error }),
    };
    this.#recorder.report('mcp.message', { server: this.id, direction }, { rpc });
  }
}

/** Of the content of a tool's result: what the tool says about its failure. */
function firstText(content: unknown): string | undefined {
  return arrayOf(content)
    .map((part) => stringOf(objectOf(part)['text']))
    .find((text) => text !== undefined);
}
