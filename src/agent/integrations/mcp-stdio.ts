/**
 * MCP servers that run as child processes and speak JSON-RPC over their standard streams (Model Context Protocol,
 * "stdio" transport). A child is one when the first thing written to it is an `initialize` request; until then only
 * that write is looked at. The pipes' own methods are shadowed on the one object: no listener is added. Tool calls
 * become ours; other messages are recorded by method. Seen with @modelcontextprotocol/sdk 1.32.2.
 */
import type { ChildProcess } from 'node:child_process';
import { arrayOf, isObject, type JsonObject, objectOf, parseJson, stringOf } from '../json.ts';
import { LineDecoder } from '../ndjson.ts';
import type { AgentRecorder } from '../recorder.ts';
import { listenTo, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { shadowFirst } from '../taps/shadow.ts';
import { FrameworkRecorder, failed, finished } from './framework.ts';

const stderrTailChars = 4096;
const initialize = /^\s*\{[^\n]*"method"\s*:\s*"initialize"/;

/** Starts to listen. */
export function integrateMcpStdio(recorder: AgentRecorder): Tap {
  return listenTo<{ process?: ChildProcess }>('', {
    // The channel speaks from the constructor, before the pipes are there.
    child_process({ process: child }) {
      if (child) queueMicrotask(guarded(() => watchFirstWrite(recorder, child)));
    },
  });
}

function watchFirstWrite(recorder: AgentRecorder, child: ChildProcess): void {
  if (!child.stdin || !child.stdout) return;
  let server: McpServer | 'other' | undefined;
  shadowFirst(child.stdin, 'write', (chunk) => {
    if (server === 'other') return;
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('utf8');
    server ??= initialize.test(text) ? new McpServer(recorder, child) : 'other';
    if (server !== 'other') server.sent(text);
  });
}

/** JSON-RPC messages of one server, in both directions. */
class McpServer {
  readonly #recorder: AgentRecorder;
  readonly #framework: FrameworkRecorder;
  readonly #id: string;
  readonly #received = new LineDecoder();
  #stderr = '';

  constructor(recorder: AgentRecorder, child: ChildProcess) {
    this.#recorder = recorder;
    this.#framework = new FrameworkRecorder(recorder, 'mcp');
    this.#id = recorder.nextId('x');
    const facts = { server: this.#id, transport: 'pipe' };
    const command = arrayOf(child.spawnargs).join(' ');
    recorder.report('mcp.start', child.pid === undefined ? facts : { ...facts, pid: child.pid }, { command });
    if (child.stdout) shadowFirst(child.stdout, 'push', (chunk) => this.#pushed(chunk, child));
    if (child.stderr) shadowFirst(child.stderr, 'push', (chunk) => this.#complained(chunk));
  }

  sent(text: string): void {
    for (const line of text.split('\n')) this.#message(line, 'sent');
  }

  #pushed(chunk: unknown, child: ChildProcess): void {
    if (chunk === null) {
      const { exitCode, signalCode } = child;
      this.#recorder.report(
        'mcp.end',
        {
          server: this.#id,
          ...(exitCode === null ? {} : { exitCode }),
          ...(signalCode === null ? {} : { signal: signalCode }),
        },
        this.#stderr ? { stderr: this.#stderr } : {},
      );
    } else if (chunk instanceof Uint8Array)
      this.#received.push(chunk, (line) => this.#message(line, 'received'));
  }

  #complained(chunk: unknown): void {
    if (chunk instanceof Uint8Array)
      this.#stderr = (this.#stderr + Buffer.from(chunk).toString('utf8')).slice(-stderrTailChars);
  }

  #message(line: string, direction: 'sent' | 'received'): void {
    const rpc = parseJson(line);
    if (!isObject(rpc)) return;
    const key = String(rpc['id']);
    if (rpc['method'] === 'tools/call' && direction === 'sent') {
      const { name, arguments: given } = objectOf(rpc['params']);
      this.#framework.startTool(
        key,
        { name: stringOf(name) ?? 'unknown', arguments: given },
        this.#recorder.scope,
      );
    } else if (rpc['method'] === undefined && this.#framework.scopeOf(key)) this.#answered(key, rpc);
    else this.#recorder.report('mcp.message', { server: this.#id, direction }, { rpc: shortRpc(rpc) });
  }

  #answered(key: string, rpc: JsonObject): void {
    const { isError, content, structuredContent } = objectOf(rpc['result']);
    if (rpc['error'] !== undefined) this.#framework.endTool(key, failed(rpc['error']));
    else if (isError === true)
      this.#framework.endTool(key, { status: 'failed', error: { type: 'tool_error' }, result: content });
    else this.#framework.endTool(key, finished(structuredContent ?? content));
  }
}

/** What a message was, without its content. */
function shortRpc(rpc: JsonObject): JsonObject {
  const { id, method, error } = rpc;
  return {
    ...(id === undefined ? {} : { id }),
    ...(method === undefined ? {} : { method }),
    ...(error === undefined ? {} : { error }),
  };
}
