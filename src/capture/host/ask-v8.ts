/**
 * Questions that only V8 can answer, through its own functions (`%name`, runtime-test.cc), which Node 20 to 26 all have. V8
 * does not check their arguments, so each must only be called with a value of the expected kind. Their syntax is enabled only
 * during the questions, unless it was enabled before.
 */
import { descriptorOf, putBack, putProperty } from './intrinsics/intrinsics.ts';
import { toUndo } from './undo.ts';

export interface AskV8 {
  /** Its properties are in a shape that other objects may share, not in a hash table of its own. */
  isFast(object: object): boolean;
  /** Its elements are in a hash table. */
  isSparse(object: object): boolean;
  /** It is in V8's table of unique strings. */
  isInternalized(text: string): boolean;
  weakEntries(collection: WeakMap<object, unknown> | WeakSet<object>): number;
}

const questions = `({
  isFast: (object) => %HasFastProperties(object),
  isSparse: (object) => %HasDictionaryElements(object),
  isInternalized: (text) => %IsInternalizedString(text),
  weakEntries: (collection) => %GetWeakCollectionSize(collection),
})`;
const flag = 'allow-natives-syntax';

/**
 * Undefined if V8 does not have the functions. They can be called until `ask` returns, because V8 compiles them on first
 * call.
 */
export function askV8<Answer>(ask: (v8: AskV8) => Answer): Answer | undefined {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const isOurs = compiled('%HasFastProperties({})') === undefined;
  if (isOurs) setFlagsFromString(`--${flag}`);
  const undo = toUndo(() => {
    if (isOurs) setFlagsFromString(`--no-${flag}`);
  });
  try {
    const v8 = compiled(questions) as AskV8 | undefined;
    return v8 && ask(v8);
  } finally {
    undo();
  }
}

/** If it can't be compiled, Node reads the stack of the SyntaxError, for which it would call the program's formatter. */
function compiled(source: string): unknown {
  const { Error: HostError } = globalThis;
  const before = descriptorOf(HostError, 'prepareStackTrace');
  const undo = toUndo(() => putBack(HostError, 'prepareStackTrace', before));
  try {
    putProperty(HostError, 'prepareStackTrace', undefined);
    return new (process.getBuiltinModule('node:vm').Script)(source).runInThisContext();
  } catch {
    return undefined;
  } finally {
    undo();
  }
}
