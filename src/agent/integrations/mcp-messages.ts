/**
 * JSON-RPC messages of one MCP server, independent of the transport (Model Context Protocol, revision 2025-06-18). Tool calls
 * are recorded as tool events, other messages with their method.
 */

import { isObject, type JsonObject, objectOf, stringOf } from '../calls/json.ts';
import { errorOf } from '../http/call-error.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { FrameworkRecorder, failed, finished } from './framework.ts';

export class McpMessages {
  readonly id: string;
  readonly #recorder: AgentRecorder;
  readonly #framework: FrameworkRecorder;

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
      this.#framework.startTool(String(rpc['id']), call, this.#recorder.scope);
    }
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
    this.#framework.endTools(failed({ message: 'the server ended without an answer' }));
  }

  /** The client gave the request up; it ignores an answer that comes later. */
  #cancelled({ requestId, reason }: JsonObject): void {
    const message = stringOf(reason) ?? 'aborted by the client';
    // The reason is the text of the client's error: a time limit is a failure, an abort is not.
    const status = /abort/i.test(message) ? 'aborted' : 'failed';
    this.#framework.endTool(String(requestId), { status, error: { message } });
  }

  #answered(key: string, rpc: JsonObject): void {
    const { isError, content, structuredContent } = objectOf(rpc['result']);
    if (rpc['error'] !== undefined) this.#framework.endTool(key, failed(rpc['error']));
    else if (isError === true)
      this.#framework.endTool(key, { status: 'failed', error: { type: 'tool_error' }, result: content });
    else this.#framework.endTool(key, finished(structuredContent ?? content));
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
