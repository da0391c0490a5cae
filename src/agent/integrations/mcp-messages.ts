/**
 * JSON-RPC messages of one MCP server, whatever carries them (Model Context Protocol, revision 2025-06-18): tool calls
 * become ours, other messages are recorded by their method.
 */

import { isObject, type JsonObject, objectOf, stringOf } from '../calls/json.ts';
import { errorOf } from '../http/call-error.ts';
import type { AgentRecorder } from '../record/recorder.ts';
import { FrameworkRecorder, failed, finished } from './framework.ts';

export class McpMessages {
  readonly id: string;
  readonly #recorder: AgentRecorder;
  readonly #framework: FrameworkRecorder;

  /** `transport` as OpenTelemetry's `network.transport`; `command` is what was started, or the host. */
  constructor(recorder: AgentRecorder, transport: 'pipe' | 'tcp', command: string, pid?: number) {
    this.#recorder = recorder;
    this.#framework = new FrameworkRecorder(recorder, 'mcp');
    this.id = recorder.nextId('x');
    const facts = { server: this.id, transport };
    recorder.report('mcp.start', pid === undefined ? facts : { ...facts, pid }, { command });
  }

  sent(rpc: unknown): void {
    if (!isObject(rpc)) return;
    if (rpc['method'] !== 'tools/call') this.#note(rpc, 'sent');
    else {
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

  /** This request will get no answer: the server was not reached, or went away. */
  lost(rpc: unknown, error: unknown): void {
    this.#framework.endTool(String(objectOf(rpc)['id']), failed(error));
    this.#recorder.report('mcp.end', { server: this.id }, { error: errorOf(error) });
  }

  #answered(key: string, rpc: JsonObject): void {
    const { isError, content, structuredContent } = objectOf(rpc['result']);
    if (rpc['error'] !== undefined) this.#framework.endTool(key, failed(rpc['error']));
    else if (isError === true)
      this.#framework.endTool(key, { status: 'failed', error: { type: 'tool_error' }, result: content });
    else this.#framework.endTool(key, finished(structuredContent ?? content));
  }

  /** What a message was, without its content. */
  #note({ id, method, error }: JsonObject, direction: 'sent' | 'received'): void {
    const rpc = {
      ...(id === undefined ? {} : { id }),
      ...(method === undefined ? {} : { method }),
      ...(error === undefined ? {} : { error }),
    };
    this.#recorder.report('mcp.message', { server: this.id, direction }, { rpc });
  }
}
