/**
 * Runs getters that the program wrote only as far as nothing can tell: V8 evaluates them in the mode that a debugger uses for
 * watched expressions, and stops them, uncatchably, before they change anything (a variable, a field, an output). Enables no
 * debugger. The session is opened for the first getter, and costs 1 to 20 ms then (Node 20 to 26).
 */
import type { Session } from 'node:inspector';
import { descriptorOf, putBack, putProperty } from '../host/intrinsics/intrinsics.ts';
import { toUndo } from '../host/undo.ts';

/** For all getters that one reader runs, because one may be an endless loop. */
const longestMs = 100;
/** A string: `Symbol.for` counts as a side effect. */
const slotName = '__agentdumpRead';

interface Slot {
  holder: unknown;
  name: string;
  found: unknown;
}

interface Evaluated {
  exceptionDetails?: unknown;
  result?: { objectId?: string };
}

export class GetterReader {
  #session: Session | undefined;
  #leftMs = longestMs;

  /** The value of `holder[name]`. Throws if it can't be read without an effect. */
  read(holder: object, name: string): unknown {
    if (this.#leftMs < 1) throw new Error('not read, because getters of the program took too long');
    const slot: Slot = { holder, name, found: undefined };
    const startedAt = performance.now();
    const { Error: HostError } = globalThis;
    const format = descriptorOf(HostError, 'prepareStackTrace');
    if (!putProperty(globalThis, slotName, slot))
      throw new Error('not read, because it is a getter of the program');
    // V8 describes what a getter throws, for which Node would call the program's formatter.
    const undo = toUndo(() => {
      if (format) putBack(HostError, 'prepareStackTrace', format);
      putBack(globalThis, slotName, undefined);
    });
    if (format) putProperty(HostError, 'prepareStackTrace', undefined);
    try {
      this.#evaluate();
      return slot.found;
    } finally {
      undo();
      this.#leftMs -= performance.now() - startedAt;
    }
  }

  close(): void {
    this.#session?.disconnect();
    this.#session = undefined;
  }

  #evaluate(): void {
    const holding = this.#post('Runtime.evaluate', {
      expression: `({ value: ${slotName}.holder[${slotName}.name] })`,
      throwOnSideEffect: true,
      silent: true,
      timeout: Math.ceil(this.#leftMs),
    });
    const objectId = holding?.result?.objectId;
    if (holding?.exceptionDetails !== undefined || objectId === undefined)
      throw new Error('not read, because its getter threw, or would have changed something');
    const functionDeclaration = `function () { ${slotName}.found = this.value }`;
    this.#post('Runtime.callFunctionOn', { objectId, functionDeclaration, silent: true });
    this.#post('Runtime.releaseObject', { objectId });
  }

  #post(method: string, parameters: object): Evaluated | undefined {
    this.#session ??= openSession();
    let answer: Evaluated | undefined;
    this.#session.post(method, parameters, (error, result) => {
      if (!error) answer = result as Evaluated;
    });
    return answer;
  }
}

/** Throws if this Node has no inspector, or may not use it. */
function openSession(): Session {
  const { Session } = process.getBuiltinModule('node:inspector');
  const session = new Session();
  session.connect();
  return session;
}
