/**
 * MCP servers that run as child processes and speak JSON-RPC over their standard streams (Model Context Protocol,
 * "stdio" transport). A child is one when the first thing written to it is an `initialize` request; until then only
 * that write is looked at. The pipes' own methods are shadowed on the one object: no listener is added. Seen with @modelcontextprotocol/sdk 1.32.2.
 */
import type { ChildProcess } from 'node:child_process';
import { platform } from '../../platform/index.ts';
import { arrayOf, parseJson } from '../calls/json.ts';
import { LineDecoder } from '../http/ndjson.ts';
import type { AgentRecorder, InFlight } from '../record/recorder.ts';
import { listenTo, type Tap } from '../taps/channels.ts';
import { guarded } from '../taps/guard.ts';
import { shadowFirst } from '../taps/shadow.ts';
import { McpMessages } from './mcp-messages.ts';

const stderrTailChars = 4096;
const exitCodeWaitMs = 200;
/** A host's tests may put a clock of their own in its place. */
const { setTimeout: startTimer } = globalThis;
const initialize = /^\s*\{[^\n]*"method"\s*:\s*"initialize"/;

/** Starts to listen. */
export function integrateMcpStdio(recorder: AgentRecorder): Tap {
  return listenTo<{ process?: ChildProcess }>('', {
    // The channel speaks from the constructor, before the pipes are there.
    child_process({ process: child }) {
      if (child) guarded(() => awaitStdin(child, () => watchFirstWrite(recorder, child)))();
    },
  });
}

/**
 * Calls `found` when the child gets its pipe: the host may write to it in the tick of its `spawn`. Node assigns it (seen on
 * 20 to 26); until then, or the end of the tick, an accessor stands there, and after it all is as without us, the order
 * of the properties too.
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

/** Its output is looked for with the first write: Node gives it its pipes one after the other. */
function watchFirstWrite(recorder: AgentRecorder, child: ChildProcess): void {
  if (!child.stdin) return;
  let server: McpServer | 'other' | undefined;
  shadowFirst(child.stdin, 'write', (chunk) => {
    if (server === 'other') return;
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('utf8');
    server ??= child.stdout && initialize.test(text) ? new McpServer(recorder, child) : 'other';
    if (server !== 'other') server.sent(text);
  });
}

type ServerEnd = Pick<ChildProcess, 'exitCode' | 'signalCode'>;

/** A child that ended and that Node has not heard of yet: a write to it fails before its exit is known. */
function findUnreapedEnd(pid: number): ServerEnd | undefined {
  const end = platform.unreapedEnd(pid);
  return end && { exitCode: end.exitCode, signalCode: end.signal };
}

/** One server: its messages in both directions, and the end of what it complained of. */
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
    this.#messages = new McpMessages(recorder, 'pipe', arrayOf(child.spawnargs).join(' '), child.pid);
    if (child.stdout) shadowFirst(child.stdout, 'push', (chunk) => this.#pushed(chunk));
    if (child.stderr) shadowFirst(child.stderr, 'push', (chunk) => this.#complained(chunk));
  }

  sent(text: string): void {
    for (const line of text.split('\n')) if (line) this.#messages.sent(parseJson(line));
  }

  /** At a death: how it ended is known by now, also where its streams have not closed yet. */
  flush(): void {
    const { exitCode, signalCode, pid } = this.#child;
    if (exitCode !== null || signalCode !== null) this.#end({ exitCode, signalCode });
    else this.#end(pid === undefined ? undefined : findUnreapedEnd(pid));
  }

  #pushed(chunk: unknown): void {
    if (chunk === null) this.#closed();
    else if (chunk instanceof Uint8Array)
      this.#received.push(chunk, (line) => this.#messages.received(parseJson(line)));
  }

  /** Its output closed; the exit code may come a moment later. */
  #closed(): void {
    this.flush();
    if (!this.#isEnded)
      startTimer(
        guarded(() => this.#end(this.#child)),
        exitCodeWaitMs,
      ).unref();
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
    this.#recorder.report('mcp.end', facts, this.#stderr ? { stderr: this.#stderr } : {});
  }

  #complained(chunk: unknown): void {
    if (chunk instanceof Uint8Array)
      this.#stderr = (this.#stderr + Buffer.from(chunk).toString('utf8')).slice(-stderrTailChars);
  }
}
