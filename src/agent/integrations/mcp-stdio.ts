/**
 * MCP servers that run as child processes and speak JSON-RPC over their standard streams (Model Context Protocol,
 * "stdio" transport). A child is one when the first thing written to it is an `initialize` request; until then only
 * that write is looked at. The pipes' own methods are shadowed on the one object: no listener is added. Seen with @modelcontextprotocol/sdk 1.32.2.
 */
import type { ChildProcess } from 'node:child_process';
import { arrayOf, parseJson } from '../json.ts';
import { LineDecoder } from '../ndjson.ts';
import type { AgentRecorder } from '../recorder.ts';
import { listenTo, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { shadowFirst } from '../taps/shadow.ts';
import { McpMessages } from './mcp-messages.ts';

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

/** One server: its messages in both directions, and the end of what it complained of. */
class McpServer {
  readonly #recorder: AgentRecorder;
  readonly #messages: McpMessages;
  readonly #received = new LineDecoder();
  #stderr = '';

  constructor(recorder: AgentRecorder, child: ChildProcess) {
    this.#recorder = recorder;
    this.#messages = new McpMessages(recorder, 'pipe', arrayOf(child.spawnargs).join(' '), child.pid);
    if (child.stdout) shadowFirst(child.stdout, 'push', (chunk) => this.#pushed(chunk, child));
    if (child.stderr) shadowFirst(child.stderr, 'push', (chunk) => this.#complained(chunk));
  }

  sent(text: string): void {
    for (const line of text.split('\n')) if (line) this.#messages.sent(parseJson(line));
  }

  #pushed(chunk: unknown, child: ChildProcess): void {
    if (chunk === null) this.#ended(child);
    else if (chunk instanceof Uint8Array)
      this.#received.push(chunk, (line) => this.#messages.received(parseJson(line)));
  }

  #ended({ exitCode, signalCode }: ChildProcess): void {
    const facts = {
      server: this.#messages.id,
      ...(exitCode === null ? {} : { exitCode }),
      ...(signalCode === null ? {} : { signal: signalCode }),
    };
    this.#recorder.report('mcp.end', facts, this.#stderr ? { stderr: this.#stderr } : {});
  }

  #complained(chunk: unknown): void {
    if (chunk instanceof Uint8Array)
      this.#stderr = (this.#stderr + Buffer.from(chunk).toString('utf8')).slice(-stderrTailChars);
  }
}
