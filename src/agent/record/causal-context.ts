/**
 * The request or test that the running code belongs to: the one in whose asynchronous context it was started. One storage per
 * thread, entered where a request or a test begins, and read at a death, a stall or a warning. Runs, steps and tool calls
 * have a separate storage (recorder.ts). Without a current context nothing is reported: what merely runs at the same time is
 * recorded separately.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { asyncHooks } from '../node-modules.ts';

export interface Origin {
  readonly kind: 'request' | 'test';
  /** The origin of the code that started this one. */
  readonly parent?: Origin | undefined;
  /** Of a test: its name, below those of its suites. */
  describe?(): { name: string[] } | undefined;
}

export class CausalContext {
  #storage: AsyncLocalStorage<Origin | undefined> | undefined;
  /**
   * Where tests are followed: the one that the request arriving on this connection belongs to. `owner`: the one that started the
   * server.
   */
  testOfRequest: ((arrived: Socket | undefined, owner: Origin | undefined) => Origin | undefined) | undefined;
  /** Where tests are followed: who sent the request whose response arrives on this connection, which may have carried others before. */
  senderOn: ((connection: object) => Origin | undefined) | undefined;

  /** Created on first use: on Node 20 and 22 an active storage slows every promise of the program. */
  get storage(): AsyncLocalStorage<Origin | undefined> {
    this.#storage ??= new (asyncHooks().AsyncLocalStorage)();
    return this.#storage;
  }

  /** Whether any context has been entered yet. */
  get isArmed(): boolean {
    return this.#storage !== undefined;
  }

  /** Applies to the rest of this asynchronous flow and to everything that it starts. */
  enter(origin: Origin | undefined): void {
    this.storage.enterWith(origin);
  }

  get current(): Origin | undefined {
    return this.#storage?.getStore();
  }
}

/**
 * Whether a context is propagated without slowing promises: by V8 itself (Node 24 and later, unless disabled), or because the
 * program already uses an AsyncLocalStorage or async hook, which is visible in each new promise.
 */
export function isContextFree(): boolean {
  return hasContextFrames() || Object.getOwnPropertySymbols(Promise.resolve()).length > 0;
}

let frames: boolean | undefined;

function hasContextFrames(): boolean {
  frames ??= readContextFrames();
  return frames;
}

function readContextFrames(): boolean {
  const words = `${process.execArgv.join(' ')} ${process.env['NODE_OPTIONS'] ?? ''}`;
  if (/--no-(?:experimental-)?async-context-frame\b/.test(words)) return false;
  const major = Number.parseInt(process.versions.node, 10);
  return major >= 24 || (major === 22 && /--experimental-async-context-frame\b/.test(words));
}
