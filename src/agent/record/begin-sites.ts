/**
 * Where the program began what may fail later in Node's own code, on a stack without a frame of the program: a request, a
 * connection, a child process. V8 keeps the frames and formats nothing until a death asks; so many a second are kept, and
 * nothing is held alive by it.
 */
import type { ChildProcess } from 'node:child_process';
import { quietly } from '../quiet-stack.ts';

export interface BeginSite {
  /** `request GET 10.0.0.7:8080/prices`. */
  what: string;
  /** Lines of V8's stack text, the innermost first. */
  stack: string;
}

interface Begun {
  what: string;
  /** Not yet formatted. */
  made: Error;
}

const perSecond = 50;
const deepest = 40;
const mostChildren = 50;
const mostChars = 8 * 1024;
const { now } = Date;
const OwnError = Error;

export class BeginSites {
  readonly #ofWork = new WeakMap<object, Begun>();
  readonly #ofErrors = new WeakMap<object, Begun>();
  readonly #children: { child: WeakRef<ChildProcess>; begun: Begun }[] = [];
  #second = 0;
  #left = 0;

  /** `work` is begun by the code that runs now. Noted once. */
  begin(work: object, what: string): void {
    if (this.#ofWork.has(work)) return;
    const begun = this.#here(what);
    if (begun) this.#ofWork.set(work, begun);
  }

  beginChild(child: ChildProcess): void {
    const begun = this.#here('child process');
    if (!begun) return;
    this.#children.push({ child: new WeakRef(child), begun });
    if (this.#children.length > mostChildren) this.#children.shift();
  }

  /** `work`, known to the program as `what`, ended with this error. */
  failed(work: object | null | undefined, error: unknown, what: string): void {
    const begun = work && this.#ofWork.get(work);
    if (begun && isObject(error) && !this.#ofErrors.has(error)) this.#ofErrors.set(error, { ...begun, what });
  }

  /**
   * Of what emitted the error; else of what ended with it, or with one of its causes: `chain` holds them in this order.
   * `ownFile` is the preload's, whose frames are left out.
   */
  find(chain: readonly unknown[], emitter: unknown, ownFile: string): BeginSite | undefined {
    const begun =
      this.#ofEmitter(emitter) ??
      chain.map((error) => (isObject(error) ? this.#ofErrors.get(error) : undefined)).find(Boolean);
    if (!begun) return undefined;
    const stack = textOf(begun.made, ownFile);
    return stack === '' ? undefined : { what: begun.what, stack };
  }

  #ofEmitter(emitter: unknown): Begun | undefined {
    if (!isObject(emitter)) return undefined;
    for (const { child, begun } of this.#children) {
      const { stdin, stdout, stderr, pid } = child.deref() ?? {};
      const name =
        emitter === stdin ? 'stdin' : emitter === stdout ? 'stdout' : emitter === stderr && 'stderr';
      if (name) return { ...begun, what: `${name} of child process ${pid ?? '?'}` };
    }
    return this.#ofWork.get(emitter);
  }

  #here(what: string): Begun | undefined {
    const second = Math.floor(now() / 1000);
    if (this.#second !== second) {
      this.#second = second;
      this.#left = perSecond;
    }
    if (this.#left-- <= 0) return undefined;
    const made = makeError();
    return made && { what, made };
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Undefined where the program has frozen Error. V8 formats the stack at its first reading. */
function makeError(): Error | undefined {
  try {
    return quietly(deepest, () => new OwnError('begun'));
  } catch {
    return undefined;
  }
}

function textOf(made: Error, ownFile: string): string {
  try {
    const stack: unknown = quietly(deepest, () => made.stack);
    if (typeof stack !== 'string') return '';
    return stack
      .split('\n')
      .filter((line) => line.startsWith('    at ') && !line.includes(ownFile))
      .join('\n')
      .slice(0, mostChars);
  } catch {
    return '';
  }
}
