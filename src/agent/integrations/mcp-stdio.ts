/**
 * MCP servers that run as child processes and use JSON-RPC over their standard streams (Model Context Protocol, "stdio"
 * transport). A child is recognized if the first thing written to it is an `initialize` request; nothing else of it is read
 * before. No listener is added. Seen with @modelcontextprotocol/sdk 1.32.2.
 */
import type { ChildProcess } from 'node:child_process';
import { platform } from '../../platform/index.ts';
import { quoteWords } from '../../platform/paths.ts';
import { arrayOf, parseJson } from '../calls/json.ts';
import { LineDecoder } from '../http/ndjson.ts';
import type { AgentRecorder, InFlight } from '../record/recorder.ts';
import { listenTo, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { findHandle, seeWrites } from '../taps/handle-writes.ts';
import { startOwnTimer } from '../taps/own-timer.ts';
import { seePushed } from '../taps/pushed.ts';
import { McpMessages } from './mcp-messages.ts';

const stderrTailChars = 4096;
const exitCodeWaitMs = 200;
const initialize = /^\s*\{[^\n]*"method"\s*:\s*"initialize"/;

/** Starts listening. */
export function integrateMcpStdio(recorder: AgentRecorder): Tap {
  return listenTo<{ process?: ChildProcess }>('', {
    // The channel publishes from the constructor, before the pipes exist.
    child_process({ process: child }) {
      if (child) guarded(() => awaitStdin(child, () => watchFirstWrite(recorder, child)))();
    },
  });
}

/**
 * Calls `found` when the child gets its pipe, because the host may write to it in the same tick as its `spawn`. Node assigns
 * the property (seen on 20 to 26). Until then, or until the end of the tick, it is an accessor; afterwards the object is the
 * same as without us, including the order of its properties.
 */
function awaitStdin(child: ChildProcess, found: () => void): void {
  const watch = guarded(found);
  let isThere = false;
  Object.defineProperty(child, 'stdin', {
    configurable: true,
    enumerable: false,
    get: () => undefined,
    set(value) {
      isThere = true;
      Reflect.deleteProperty(child, 'stdin');
      Object.assign(child, { stdin: value });
      watch();
    },
  });
  queueMicrotask(() => {
    if (!isThere) Reflect.deleteProperty(child, 'stdin');
  });
}

/** `stdout` is looked up at the first write, because Node assigns the pipes one after the other. */
function watchFirstWrite(recorder: AgentRecorder, child: ChildProcess): void {
  const handle = findHandle(child.stdin);
  if (!handle) return;
  let server: McpServer | 'other' | undefined;
  const see = guarded((chunk: unknown) => {
    if (server === 'other') return;
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('utf8');
    server ??= child.stdout && initialize.test(text) ? new McpServer(recorder, child) : 'other';
    if (server !== 'other') server.sent(text);
  });
  seeWrites(handle, see);
}

type ServerEnd = Pick<ChildProcess, 'exitCode' | 'signalCode'>;

/** The end of a child that has exited but has not been reaped by Node: a write to it fails before its exit is reported. */
function findUnreapedEnd(pid: number): ServerEnd | undefined {
  const end = platform.unreapedEnd(pid);
  return end && { exitCode: end.exitCode, signalCode: end.signal };
}

/** One server: its messages in both directions, and the tail of its error output. */
class McpServer implements InFlight {
  readonly #recorder: AgentRecorder;
  readonly #messages: McpMessages;
  readonly #received = new LineDecoder();
  readonly #child: ChildProcess;
  #stderr = '';
  #isEnded = false;

  constructor(recorder: AgentRecorder, child: ChildProcess) {
    this.#recorder = recorder;
    this.#child = child;
    recorder.inFlight.add(this);
    this.#messages = new McpMessages(
      recorder,
      'pipe',
      quoteWords(arrayOf(child.spawnargs).map(String)),
      child.pid,
    );
    if (child.stdout) seePushed(child.stdout, (chunk) => this.#pushed(chunk));
    if (child.stderr) seePushed(child.stderr, (chunk) => this.#complained(chunk));
  }

  sent(text: string): void {
    for (const line of text.split('\n')) if (line) this.#messages.sent(parseJson(line));
  }

  /** At a death the exit status is known, even if the streams have not been closed yet. */
  flush(): void {
    const { exitCode, signalCode, pid } = this.#child;
    if (exitCode !== null || signalCode !== null) this.#end({ exitCode, signalCode });
    else this.#end(pid === undefined ? undefined : findUnreapedEnd(pid));
  }

  #pushed(chunk: Uint8Array | null): void {
    if (chunk === null) this.#closed();
    else this.#received.push(chunk, (line) => this.#messages.receivedLine(line));
  }

  /** The server's output was closed. The exit code may follow a moment later. */
  #closed(): void {
    this.flush();
    if (!this.#isEnded) startOwnTimer(() => this.#end(this.#child), exitCodeWaitMs);
  }

  #end(how: ServerEnd | undefined): void {
    if (this.#isEnded || !how) return;
    this.#isEnded = true;
    this.#recorder.inFlight.delete(this);
    const { exitCode, signalCode } = how;
    const facts = {
      server: this.#messages.id,
      ...(exitCode === null ? {} : { exitCode }),
      ...(signalCode === null ? {} : { signal: signalCode }),
    };
    this.#messages.ended();
    this.#recorder.report('mcp.end', facts, this.#stderr ? { stderr: this.#stderr } : {});
  }

  #complained(chunk: Uint8Array | null): void {
    if (chunk) this.#stderr = (this.#stderr + Buffer.from(chunk).toString('utf8')).slice(-stderrTailChars);
  }
}
