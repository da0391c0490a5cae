/**
 * Whose work the running code is: the request or the test in whose asynchronous context it was started. One storage a
 * thread, entered where a request or a test begins and read at a death, a stall or a warning. Runs, steps and tool calls have
 * a storage of their own (recorder.ts). Where no context is current nothing is said: what merely runs at the same time is
 * another fact.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import { asyncHooks } from '../node-modules.ts';

export interface Origin {
  readonly kind: 'request' | 'test';
  /** What the code that began this one belonged to. */
  readonly parent?: Origin | undefined;
}

export class CausalContext {
  #storage: AsyncLocalStorage<Origin | undefined> | undefined;

  /** Made at the first need: on Node 20 and 22 its first use slows every promise of the program. */
  get storage(): AsyncLocalStorage<Origin | undefined> {
    this.#storage ??= new (asyncHooks().AsyncLocalStorage)();
    return this.#storage;
  }

  /** Whether anything was entered yet. */
  get isArmed(): boolean {
    return this.#storage !== undefined;
  }

  /** From here on, in this asynchronous flow and in all that it starts. */
  enter(origin: Origin | undefined): void {
    this.storage.enterWith(origin);
  }

  get current(): Origin | undefined {
    return this.#storage?.getStore();
  }
}

/**
 * Whether a context is carried without slowing promises: by V8 itself (Node 24 on, unless it was told not to), or
 * because the program uses an AsyncLocalStorage or an async hook of its own, which each new promise then shows.
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
