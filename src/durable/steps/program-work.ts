/**
 * Work that a program has started and not finished, and that `process.getActiveResourcesInfo()` does not show: jobs of the
 * thread pool (crypto, zlib, native addons), and unreferenced timers. Requests are tracked here too, individually, because
 * the number of all requests of a kind in the process is inconclusive once one of the host's has ended. Tracked by
 * async_hooks, while enabled.
 */
import { AsyncResource, createHook } from 'node:async_hooks';
import { quietly } from '../../agent/quiet-stack.ts';
import { isOurs } from './own-pause.ts';

/** All-capital names are Node's own: requests and jobs end after one call. An addon chooses the name of its job. */
const ofNode = /^[A-Z0-9_]+$/;
const jobOfNode = /REQ(UEST|PROMISE|CALLBACK|WRAP)$|^ZLIB$/;
const madeInScript = new Set(['PROMISE', 'TickObject', 'Microtask', 'Immediate']);

export class ProgramWork {
  readonly #atWork = new Set<number>();
  readonly #timers = new Set<number>();
  readonly #hook: ReturnType<typeof createHook>;
  #hasEnded = false;

  /** `isOfProgram`: whether the code that is running now is the program's. */
  constructor(isOfProgram: () => boolean) {
    this.#hook = createHook({
      init: (id, type, _trigger, resource) => {
        if (madeInScript.has(type)) return;
        if (type === 'Timeout') {
          if (!isOurs() && isOfProgram() && !isOfConnection()) this.#timers.add(id);
        } else if (isJob(type, resource) && isOfProgram()) this.#atWork.add(id);
      },
      after: (id) => {
        if (this.#atWork.delete(id) || this.#timers.has(id)) this.#hasEnded = true;
      },
      destroy: (id) => {
        this.#atWork.delete(id);
        this.#timers.delete(id);
      },
    });
  }

  begin(): void {
    this.#hook.enable();
  }

  end(): void {
    this.#hook.disable();
    this.#atWork.clear();
    this.#timers.clear();
  }

  /** Whether there is any now, or some has ended since the last call. */
  wasAtWork(): boolean {
    const hasEnded = this.#hasEnded;
    this.#hasEnded = false;
    return hasEnded || this.#atWork.size > 0 || this.#timers.size > 0;
  }
}

const deepest = 15;
const inTimers = /\bnode:(internal\/)?(async_hooks|timers)\b/;
const inConnections =
  /\bnode:(internal\/(stream_base_commons|http)|_http_)|[\\/](deps|node_modules)[\\/]undici[\\/]/;

/**
 * Whether the timer that is being created limits a connection. It runs as long as the connection is kept for the next request,
 * and one that is at work has a handle that is counted.
 */
function isOfConnection(): boolean {
  const frames = quietly(deepest, () => new Error('stack').stack ?? '').split('\n');
  const caller = frames[frames.findLastIndex((frame) => inTimers.test(frame)) + 1] ?? '';
  return inConnections.test(caller);
}

/** A resource that is created in script does not wake anything by itself. */
function isJob(type: string, resource: object): boolean {
  if (ofNode.test(type)) return jobOfNode.test(type) && type !== 'HTTPCLIENTREQUEST';
  return !(resource instanceof AsyncResource);
}
