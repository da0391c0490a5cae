/**
 * Questions that only V8 can answer, through its own functions (`%name`, runtime-test.cc), which Node 20 to 26 all have.
 * V8 does not look at what it is given: each is only asked of a value of the kind that it expects. Their syntax is allowed
 * for as long as the questions last, and to whom it was allowed before stays so.
 */
export interface AskV8 {
  /** Its properties are in a shape that it may share; else in a hash table of its own. */
  isFast(object: object): boolean;
  /** Its elements are in a hash table. */
  isSparse(object: object): boolean;
  /** It is in V8's table of strings of which there is one each. */
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

/** Undefined where V8 does not know the questions. They may be asked until `ask` returns, as V8 compiles them when first asked. */
export function askV8<Answer>(ask: (v8: AskV8) => Answer): Answer | undefined {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const isOurs = compiled('%HasFastProperties({})') === undefined;
  if (isOurs) setFlagsFromString(`--${flag}`);
  try {
    const v8 = compiled(questions) as AskV8 | undefined;
    return v8 && ask(v8);
  } finally {
    if (isOurs) setFlagsFromString(`--no-${flag}`);
  }
}

function compiled(source: string): unknown {
  try {
    return new (process.getBuiltinModule('node:vm').Script)(source).runInThisContext();
  } catch {
    return undefined;
  }
}
