/**
 * The objects of a kind in other contexts of this thread (`node:vm`), such as the one in which jest runs a test file. V8's list is
 * of one context, which the inspector numbers; a function of the main realm is handed to it through the inspector's own
 * `require`, so that nothing of the program is called or changed there. The inspector also names contexts that have been
 * collected, and from Node 24 on asking one of them is a segmentation fault: so the number of a context is that of a script that is
 * compiled in it, and only contexts are asked that the caller holds.
 */
const slotKey = Symbol.for('agentdump.realms');
const group = 'agentdump';

type Answer = Record<string, { objectId?: string }>;

/**
 * Each list comes after a garbage collection, and is emptied when `visit` returns. Does nothing if anything is in the way.
 * @param contexts results of `vm.createContext`.
 * @param example an expression that returns one of the objects.
 */
export function listElsewhere(
  visit: (objects: object[]) => void,
  example: string,
  contexts: readonly object[],
): void {
  const { Script } = process.getBuiltinModule('node:vm');
  // That of the main realm; this code runs in one of its own.
  const holder = new Script('(() => {}).constructor').runInThisContext() as object;
  const slot = (objects: object[]): void => {
    try {
      visit(objects);
    } finally {
      objects.length = 0;
    }
  };
  const { Session } = process.getBuiltinModule('node:inspector');
  const session = new Session();
  const post = (method: string, params: object): Answer => {
    let answer: Answer = {};
    session.post(method, { objectGroup: group, ...params }, (error: Error | null, result?: object) => {
      if (!error && result) answer = result as Answer;
    });
    return answer;
  };
  try {
    Object.defineProperty(holder, slotKey, {
      value: Object.assign(slot, { top: Object.getPrototypeOf }),
      configurable: true,
      enumerable: false,
    });
    session.connect();
    for (const contextId of numbersOf(contexts, session)) {
      const inContext = { contextId, includeCommandLineAPI: true, silent: true };
      const ours = `require.constructor[Symbol.for('agentdump.realms')]`;
      const visitor = post('Runtime.evaluate', { expression: ours, ...inContext });
      const top = post('Runtime.evaluate', { expression: `${ours}.top(${example})`, ...inContext });
      const prototypeObjectId = top['result']?.objectId;
      const all = post('Runtime.queryObjects', { prototypeObjectId });
      post('Runtime.callFunctionOn', {
        functionDeclaration: 'function (visit) { visit(this); }',
        objectId: all['objects']?.objectId,
        arguments: [{ objectId: visitor['result']?.objectId }],
      });
    }
    post('Runtime.releaseObjectGroup', {});
  } catch {
    // Frozen intrinsics, or no inspector: then only the main realm is looked at.
  } finally {
    Reflect.deleteProperty(holder, slotKey);
    session.disconnect();
  }
}

function numbersOf(contexts: readonly object[], session: import('node:inspector').Session): number[] {
  const { compileFunction, isContext } = process.getBuiltinModule('node:vm');
  const numbers: number[] = [];
  let sought: string | undefined;
  session.on('Debugger.scriptParsed', ({ params: { url, executionContextId } }) => {
    if (sought !== undefined && url === sought) numbers.push(executionContextId);
  });
  session.post('Debugger.enable');
  for (const [at, parsingContext] of contexts.entries()) {
    sought = `agentdump-realm-${at}`;
    if (isContext(parsingContext)) compileFunction('', [], { parsingContext, filename: sought });
  }
  session.post('Debugger.disable');
  return numbers;
}
