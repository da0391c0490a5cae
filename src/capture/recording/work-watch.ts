/**
 * Whether an exit code ends work (AGENTDUMP_EXITS): a linter, a compiler or a test runner only repeats by its code what it
 * has printed, and that is no death; an agent or a server that gives up is one. Runs in every program, so nothing is loaded
 * for it: one channel reports when a server begins to listen, everything else is looked up at an exit code other than 0.
 */
import type { Server } from 'node:net';
import type { Host } from '../../agent/api/context.ts';
import { guarded } from '../../agent/taps/guard.ts';
import { isMainThread, type Surroundings } from '../fatal-path/surroundings.ts';

/** A channel of `node:diagnostics_channel`, on Node 20 to 26, also in a worker of `node:cluster`. */
const listenChannel = 'tracing:net.server.listen:asyncStart';
/** A program that searches for a free port listens for a moment. */
const shortestServiceMs = 1_000;
const mostKept = 64;
/** 128 + SIGINT: the user's own Ctrl-C. */
const interruptedCode = 130;

/** A test runner, or one of its processes: its exit code reports failed tests. A link in `.bin` is not resolved. */
const testScript =
  /[\\/]node_modules[\\/](?:\.bin[\\/])?(?:_?mocha|jest(?:-cli|-worker)?|vitest|tinypool|ava|tap|@tapjs|playwright|@playwright[\\/]test|jasmine|karma|cypress|react-scripts|wtr|@web[\\/]test-runner|uvu|tape|c8|nyc)(?:[\\/.]|$)/;

/** WeakRef, because a program may open and close servers by the thousand. */
interface Listened {
  server: WeakRef<Server & { _unref?: boolean }>;
  atMs: number;
  isPipe: boolean;
}

export class WorkWatch {
  #listened: Listened[] = [];
  /** When the earliest of the servers that were dropped from the list began to listen. */
  #droppedAtMs: number | undefined;
  readonly #hear = guarded((message: unknown): void => {
    const { server, options } = message as { server?: Server; options?: { path?: unknown } };
    if (!server) return;
    const isPipe = typeof options?.path === 'string';
    this.#listened[this.#listened.length] = { server: new WeakRef(server), atMs: performance.now(), isPipe };
    if (this.#listened.length > mostKept) this.#dropEnded();
  });

  constructor() {
    process.getBuiltinModule('node:diagnostics_channel').subscribe(listenChannel, this.#hear);
  }

  stop(): void {
    process.getBuiltinModule('node:diagnostics_channel').unsubscribe(listenChannel, this.#hear);
  }

  /** Whether this exit ends work: `exitCode` is not 0, and nothing was thrown. */
  isEndOfWork(exitCode: number, { config, recording, listens }: Surroundings, host: Host): boolean {
    if (config.exits !== 'agent') return config.exits === 'all';
    const script = process.argv[1] ?? '';
    // A worker ends while the program continues: row 15, unless it belongs to the pool of an installed tool.
    if (!isMainThread) return !/[\\/]node_modules[\\/]/.test(script);
    if (exitCode === interruptedCode || isTestProcess(script)) return false;
    const hasAgent = recording?.isAgent === true || host.state.size > 0 || host.providers.size > 0;
    // A server that can't listen is one that gives up; a search for a free port ends with one that is.
    return hasAgent || this.#hasServed() || listens?.failure !== undefined;
  }

  /** A server that does not keep its program alive is a tool's own channel (tsx has one to its child). */
  #hasServed(): boolean {
    const latest = performance.now() - shortestServiceMs;
    if (this.#droppedAtMs !== undefined && this.#droppedAtMs < latest) return true;
    // By index, because the program may have replaced the methods of arrays.
    for (let at = 0; at < this.#listened.length; at++) {
      const { server, atMs, isPipe } = this.#listened[at] as Listened;
      const found = server.deref();
      const hasServed = found?.listening || (!isPipe && atMs < latest);
      if (hasServed && found?._unref !== true) return true;
    }
    return false;
  }

  #dropEnded(): void {
    const kept = this.#listened.filter(({ server }) => server.deref()?.listening).slice(-mostKept / 2);
    const first = this.#listened.find((one) => !one.isPipe && !kept.includes(one));
    this.#droppedAtMs ??= first?.atMs;
    this.#listened = kept;
  }
}

/** `process.moduleLoadList` is the only place where `node:test` can be detected, whatever file loaded it. */
function isTestProcess(script: string): boolean {
  const { moduleLoadList } = process as { moduleLoadList?: readonly string[] };
  return testScript.test(script) || moduleLoadList?.includes('NativeModule test') === true;
}
