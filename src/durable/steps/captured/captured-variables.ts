/**
 * The variables that a function captures and names. V8 provides them to an inspector session, with no debugger enabled (some 0.3 ms
 * of processor time). Runs no code of the program.
 */
import type { Session } from 'node:inspector';
import { ownTimer } from '../own-pause.ts';

export interface CapturedVariable {
  name: string;
  value: unknown;
  /** In the innermost scope, where a function may be what the caller of a helper has passed. */
  isInnermost?: boolean;
  /** Of a module: the same for all calls. */
  isShared?: boolean;
}

export interface Capture {
  variables: CapturedVariable[];
  /** Source; of the function that is bound, if one is. */
  code: string;
  /** Nothing else is captured, such as `this`. */
  isAll: boolean;
}

const door = Symbol.for('agentdump: captured');
const innerScopes = /^(?:Closure|Block|Catch|Local|With)/;
const moduleScope = /^Module/;
const identifiers = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;
const longestSource = 20_000;

type Property = { name: string; value?: { objectId?: string; description?: string } };
type Answer = {
  result?: { objectId?: string } | Property[];
  internalProperties?: Property[];
};

const slot: { asked?: object; answer: unknown } = { answer: undefined };

/** Undefined if they can't be had: this Node has no inspector, it is not permitted, or the global object takes no properties. */
export function capturedVariables(asked: object): Capture | undefined {
  if (!Reflect.defineProperty(globalThis, door, { value: slot, configurable: true })) return undefined;
  slot.asked = asked;
  try {
    return variablesOf(openSession(), asked);
  } catch {
    return undefined;
  } finally {
    delete slot.asked;
    Reflect.deleteProperty(globalThis, door);
  }
}

/** What V8 has told through a session stays in memory until the session ends. */
const sessionMs = 50;
let opened: Session | undefined;

/** One for all calls of a short time: connecting takes as long as two questions. */
function openSession(): Session {
  if (opened) return opened;
  const session: Session = new (process.getBuiltinModule('node:inspector').Session)();
  session.connect();
  opened = session;
  const close = () => {
    opened = undefined;
    session.disconnect();
  };
  ownTimer(close, sessionMs).unref();
  return session;
}

const codeOf = (asked: unknown): string =>
  typeof asked === 'function' ? Function.prototype.toString.call(asked) : '';

/** By source. */
const namedIn = new Map<string, Set<string>>();
const mostSources = 200;

/** The words in a source, cached because the same few functions are asked for. */
function wordsOf(code: string): Set<string> {
  const known = namedIn.get(code);
  if (known) return known;
  const words = new Set(code.slice(0, longestSource).match(identifiers));
  if (namedIn.size >= mostSources) namedIn.clear();
  namedIn.set(code, words);
  return words;
}

function variablesOf(session: Session, asked: object): Capture | undefined {
  const expression = `globalThis[Symbol.for('${door.description}')].asked`;
  const held = post(session, 'Runtime.evaluate', { expression }).result;
  if (!held || !('objectId' in held)) return undefined;
  const properties = post(session, 'Runtime.getProperties', {
    objectId: held.objectId,
    ownProperties: true,
  });
  const inner = new Map(properties.internalProperties?.map(({ name, value }) => [name, value?.objectId]));
  const bound = take(session, inner.get('[[BoundArgs]]'));
  if (Array.isArray(bound)) {
    const code = codeOf(take(session, inner.get('[[TargetFunction]]')));
    const variables = bound.map((value, at) => ({ name: `argument ${at + 1}`, value, isInnermost: true }));
    // What the function that is bound captures is not asked for.
    return { variables, code, isAll: false };
  }
  // V8 describes each scope by an object of its own, which has the variables in a field.
  const list = take(session, inner.get('[[Scopes]]')) as ArrayLike<Scope> | undefined;
  if (!list) return undefined;
  const scopes = Array.from(list);
  const code = codeOf(asked);
  const named = wordsOf(code);
  const found = new Map<string, CapturedVariable>();
  const kinds = scopes.map(({ description }) => description ?? '');
  const last = kinds.findLastIndex((kind) => innerScopes.test(kind));
  for (const [at, { object }] of scopes.entries()) {
    const isOfModule = moduleScope.test(kinds[at]!);
    if (!isOfModule && !innerScopes.test(kinds[at]!)) continue;
    const isShared = isOfModule || (at === last && kinds[at] === 'Closure' && kinds[at + 1] !== 'Module');
    // A module may have thousands.
    for (const name of named)
      if (object && Object.hasOwn(object, name) && !found.has(name))
        found.set(name, { name, value: object[name], isInnermost: at === 0, isShared });
  }
  const isAll = code.length <= longestSource && !named.has('this') && !named.has('super');
  return { variables: [...found.values()], code, isAll };
}

type Scope = { description?: string; object?: Record<string, unknown> };

function take(session: Session, objectId: string | undefined): unknown {
  if (objectId === undefined) return undefined;
  const functionDeclaration = `function () { globalThis[Symbol.for('${door.description}')].answer = this; }`;
  post(session, 'Runtime.callFunctionOn', { functionDeclaration, objectId });
  const { answer } = slot;
  slot.answer = undefined;
  return answer;
}

function post(session: Session, method: string, params: object): Answer {
  let answer: Answer = {};
  // On the thread's own session it calls back before it returns.
  session.post(method, params, (error, result) => {
    if (!error && result) answer = result as Answer;
  });
  return answer;
}
