/**
 * What a program has begun and not heard of yet, where nothing that keeps the loop alive tells of it: jobs of the thread pool
 * (crypto, zlib, native addons), and timers that were taken off the loop. Requests are seen here too, each for itself: a count of
 * all of one kind in the process says nothing once one of the host's has ended. Seen by async_hooks, while it is begun.
 */
import { AsyncResource, createHook } from 'node:async_hooks';
import { isOurs } from './own-pause.ts';

/** All-capital names are Node's own: requests and jobs end with one call. An addon's job has the name that it was given. */
const ofNode = /^[A-Z0-9_]+$/;
const jobOfNode = /REQ(UEST|PROMISE|CALLBACK|WRAP)$|^ZLIB$/;
const madeInScript = new Set(['PROMISE', 'TickObject', 'Microtask', 'Immediate']);

export class ProgramWork {
  readonly #atWork = new Set<number>();
  readonly #timers = new Set<number>();
  readonly #hook: ReturnType<typeof createHook>;
  #hasEnded = false;

  /** `isOfProgram`: whether the code that runs now is the program's. */
  constructor(isOfProgram: () => boolean) {
    this.#hook = createHook({
      init: (id, type, _trigger, resource) => {
        if (madeInScript.has(type)) return;
        if (type === 'Timeout') {
          if (!isOurs() && isOfProgram()) this.#timers.add(id);
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

  /** Whether there is any now, or one has ended since this was asked last. */
  wasAtWork(): boolean {
    const hasEnded = this.#hasEnded;
    this.#hasEnded = false;
    return hasEnded || this.#atWork.size > 0 || this.#timers.size > 0;
  }
}

/** One that is made in script wakes nobody by itself. */
function isJob(type: string, resource: object): boolean {
  if (ofNode.test(type)) return jobOfNode.test(type) && type !== 'HTTPCLIENTREQUEST';
  return !(resource instanceof AsyncResource);
}
