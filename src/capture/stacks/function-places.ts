/**
 * Where functions of the program are defined: V8 tells it to an inspector session, with no debugger enabled. Runs no code of the
 * program.
 */
import type { Session } from 'node:inspector';
import type { RawFrame } from '../../bundle/layout/bundle.ts';
import { openSelfDebugger, type ScriptTexts } from '../host/inspector-session.ts';
import { putBack, putProperty } from '../host/intrinsics/intrinsics.ts';
import { findField } from '../host/read-field.ts';
import { toUndo } from '../host/undo.ts';

const slotName = '__agentdumpFunction';
const mostFunctions = 8;
/** Functions that are bound to functions that are bound. */
const mostBindings = 3;

type FunctionPlace = Omit<RawFrame, 'url'>;

interface Described {
  objectId?: string;
  value?: { scriptId?: unknown; lineNumber?: unknown; columnNumber?: unknown };
}
type Answer = {
  result?: { objectId?: string };
  internalProperties?: { name: string; value?: Described }[];
};

/**
 * With the scripts that they are in, of `texts` or, if that is a part of them, of all. Without those whose script is not known, which is
 * never so for V8's own list.
 */
export function placesOfHandlers(
  handlers: readonly object[],
  texts: ScriptTexts & { isFromDisk: boolean },
): RawFrame[] {
  if (handlers.length === 0) return [];
  try {
    const places = placesOfFunctions(handlers);
    let urls = urlsOf(texts);
    if (texts.isOfV8 !== true && !texts.isFromDisk && places.some(({ scriptId }) => !urls.has(scriptId))) {
      const all = openSelfDebugger();
      urls = urlsOf(all);
      all.close();
    }
    return places.flatMap((place) => {
      const url = urls.get(place.scriptId);
      return url ? [{ ...place, url }] : [];
    });
  } catch {
    // No inspector, or one that the program has replaced: the scripts are worth more than whose handler it was.
    return [];
  }
}

const urlsOf = ({ scripts }: ScriptTexts) => new Map(scripts.map(({ scriptId, url }) => [scriptId, url]));

/** Without those that V8 has no place for, such as native ones. Throws if this Node has no inspector. */
function placesOfFunctions(functions: readonly object[]): FunctionPlace[] {
  const session: Session = new (process.getBuiltinModule('node:inspector').Session)();
  session.connect();
  const close = toUndo(() => session.disconnect());
  try {
    return functions.slice(0, mostFunctions).flatMap((asked) => placeOf(session, unwrapped(asked)) ?? []);
  } finally {
    close();
  }
}

/** `once` of an emitter keeps what it was given under this name. */
function unwrapped(listener: object): object {
  const inner = findField(listener, 'listener');
  return typeof inner === 'function' ? inner : listener;
}

function placeOf(session: Session, asked: object): FunctionPlace | undefined {
  if (!putProperty(globalThis, slotName, asked)) return undefined;
  const undo = toUndo(() => putBack(globalThis, slotName, undefined));
  try {
    let objectId = post(session, 'Runtime.evaluate', { expression: slotName }).result?.objectId;
    for (let n = 0; n <= mostBindings && objectId !== undefined; n++) {
      const { internalProperties = [] } = post(session, 'Runtime.getProperties', {
        objectId,
        ownProperties: true,
      });
      const read = (name: string) => internalProperties.find((one) => one.name === name)?.value;
      const { scriptId, lineNumber, columnNumber } = read('[[FunctionLocation]]')?.value ?? {};
      if (typeof scriptId === 'string' && typeof lineNumber === 'number')
        return {
          // A name is a text of the program.
          functionName: '',
          scriptId,
          line: lineNumber + 1,
          column: (typeof columnNumber === 'number' ? columnNumber : 0) + 1,
        };
      objectId = read('[[TargetFunction]]')?.objectId;
    }
    return undefined;
  } finally {
    undo();
  }
}

function post(session: Session, method: string, params: object): Answer {
  let answer: Answer = {};
  session.post(method, params, (error, result) => {
    if (!error && result) answer = result as Answer;
  });
  return answer;
}
