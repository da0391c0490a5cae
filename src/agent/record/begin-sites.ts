/**
 * Where the program started an operation that may later fail in Node's own code, on a stack without a frame of the program: a
 * request, a connection, a child process. V8 captures the frames and formats them only when a death asks for the text. At
 * most a fixed number per second is captured, and the operations are referenced weakly.
 */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { captured, quietly } from '../quiet-stack.ts';
import { Connections, type FailedConnection, failureOf, nameOf, unnamedConnection } from './connections.ts';
import { textField } from './own-field.ts';
import { PerSecond } from './per-second.ts';

export interface BeginSite {
  /** For example `request GET 10.0.0.7:8080/prices`. */
  what: string;
  /** Lines of V8's stack text, innermost first. */
  stack: string;
}

interface Begun {
  what: string;
  /** Its stack has not been formatted yet. */
  made: Error;
}

const perSecond = 50;
const deepest = 40;
const mostChildren = 50;
const mostTexts = 16;
const mostChars = 8 * 1024;
/** Whoever gives up tells it soon. */
const longestQuotedMs = 60_000;
const { now } = Date;
const OwnError = Error;

export class BeginSites {
  readonly #ofWork = new WeakMap<object, Begun>();
  readonly #ofErrors = new WeakMap<object, Begun>();
  readonly #children: { child: WeakRef<ChildProcess>; begun: Begun }[] = [];
  /** Work whose error the program makes itself, from this text. */
  readonly #ofTexts: { text: string; begun: Begun }[] = [];
  readonly #connections = new Connections(
    (socket) => stackText(this.#ofWork.get(socket)?.made),
    (socket, failure, what) => this.failed(socket, failure, what),
  );
  readonly #rate = new PerSecond(perSecond);

  /** Notes that `work` is started by the currently running code. Only the first call for an object counts. */
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

  beginConnection(socket: Socket): void {
    this.begin(socket, unnamedConnection);
    if (this.#ofWork.has(socket)) this.#connections.begin(socket);
  }

  /** Connections that failed until now, those of a death included. `ownFile`: as for `find`. */
  failedConnections(ownFile: string): FailedConnection[] {
    return this.#connections.look().map((one) => ({ ...one, stack: framesOf(one.stack, ownFile) }));
  }

  /** Notes that `work`, known to the program as `what`, ended with this error. */
  failed(work: object | null | undefined, error: unknown, what: string): void {
    const begun = work && this.#ofWork.get(work);
    if (begun && isObject(error) && !this.#ofErrors.has(error)) this.#ofErrors.set(error, { ...begun, what });
  }

  /** The same for an error object that does not exist yet and will have this message, or begin with its name. */
  willFail(work: object | undefined, text: string): void {
    const begun = work && this.#ofWork.get(work);
    if (!begun) return;
    this.#ofTexts.push({ text, begun });
    if (this.#ofTexts.length > mostTexts) this.#ofTexts.shift();
  }

  /**
   * The site where the emitter of the error was started; otherwise the site of the work that ended with the error or one of
   * its causes, in the order of `chain`; otherwise that of the connections whose failure one of them quotes. `ownFile` is the
   * preload's file, whose frames are left out.
   */
  find(chain: readonly unknown[], emitter: unknown, ownFile: string): BeginSite | undefined {
    const failed = this.failedConnections(ownFile);
    const begun =
      this.#ofEmitter(emitter) ??
      chain
        .map((error) =>
          isObject(error)
            ? (this.#ofErrors.get(error) ?? this.#ofCommand(error) ?? this.#ofText(error))
            : undefined,
        )
        .find(Boolean);
    if (!begun) return isObject(emitter) ? undefined : quotedBy(chain, failed);
    const stack = beginStack(begun.made, ownFile);
    return stack === '' ? undefined : { what: begun.what, stack };
  }

  #ofEmitter(emitter: unknown): Begun | undefined {
    if (!isObject(emitter)) return undefined;
    for (const { child: held, begun } of this.#children) {
      const child = held.deref();
      // It could not be started.
      if (child === emitter) return begun;
      const { stdin, stdout, stderr, pid } = child ?? {};
      const name =
        emitter === stdin ? 'stdin' : emitter === stdout ? 'stdout' : emitter === stderr && 'stderr';
      if (name) return { ...begun, what: `${name} of child process ${pid ?? '?'}` };
    }
    const begun = this.#ofWork.get(emitter);
    const failure = begun?.what === unnamedConnection ? failureOf(emitter) : undefined;
    return begun && failure ? { ...begun, what: nameOf(failure) } : begun;
  }

  /** For an error of exec and execFile, which is made when the child has ended. Two that fit are not told apart. */
  #ofCommand(error: object): Begun | undefined {
    const cmd = textField(error, 'cmd');
    if (cmd === undefined) return undefined;
    const fitting = this.#children.flatMap(({ child: held, begun }) => {
      const child = held.deref();
      return child && commandsOf(child).includes(cmd) && !isSuccess(child) ? [{ child, begun }] : [];
    });
    const [only, other] = fitting;
    return only && !other ? { ...only.begun, what: `child process ${only.child.pid ?? '?'}` } : undefined;
  }

  #ofText(error: object): Begun | undefined {
    const message = textField(error, 'message');
    if (message === undefined || this.#ofTexts.length === 0) return undefined;
    const named = `${textField(error, 'name') ?? 'Error'}: ${message}`;
    const [only, other] = this.#ofTexts.filter(({ text }) => text === message || text === named);
    return other ? undefined : only?.begun;
  }

  #here(what: string): Begun | undefined {
    this.#rate.begins();
    if (!this.#rate.take()) return undefined;
    const made = makeError();
    return made && { what, made };
  }
}

/** As they are in the `cmd` of an error: what exec was given, and file and arguments of execFile. */
function commandsOf({ spawnargs }: ChildProcess): string[] {
  const words = Array.isArray(spawnargs) ? spawnargs.map(String) : [];
  return [words.join(' '), words.at(-1) ?? ''];
}

const isSuccess = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === 0 && signalCode === null;

/**
 * A client that wraps an error seldom keeps it, and mostly repeats its words. Different failures are not told apart, and one
 * without an address may be anybody's.
 */
function quotedBy(chain: readonly unknown[], failed: readonly FailedConnection[]): BeginSite | undefined {
  const texts = chain.flatMap((error) => (isObject(error) ? (textField(error, 'message') ?? []) : []));
  const [only, other] = failed.filter(
    ({ what, message, lastBegunAt }) =>
      what !== unnamedConnection &&
      now() - lastBegunAt <= longestQuotedMs &&
      texts.some((text) => text.includes(message)),
  );
  return !only?.stack || !only.isOnlyStack || other ? undefined : { what: only.what, stack: only.stack };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Undefined if the program has frozen Error. V8 formats the stack when it is first read. */
function makeError(): Error | undefined {
  try {
    return captured(deepest, () => new OwnError('begun'));
  } catch {
    return undefined;
  }
}

/** The frames of a stack that was captured by `new Error`; empty if it has none or can't be read. */
export const beginStack = (made: Error, ownFile: string): string => framesOf(stackText(made), ownFile);

function stackText(made: Error | undefined): string {
  try {
    const stack: unknown = made && quietly(deepest, () => made.stack);
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}

const framesOf = (stack: string, ownFile: string): string =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at ') && !line.includes(ownFile))
    .join('\n')
    .slice(0, mostChars);
