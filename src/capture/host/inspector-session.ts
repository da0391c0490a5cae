/**
 * A debugger session of this thread with itself, opened only at the moment of death: before that, Debugger.enable would make
 * hot code ten times slower. On the thread's own session `post` calls back synchronously (tested on Node 20, 22, 24, 26).
 */
import type { Session } from 'node:inspector';
import { toUndo } from './undo.ts';

export interface ScriptParsed {
  scriptId: string;
  url: string;
  hash: string;
  sourceMapURL?: string;
  isModule?: boolean;
  length?: number;
}

export interface ScriptTexts {
  scripts: ScriptParsed[];
  /** All that V8 has, Node's own as well. */
  isOfV8?: true;
  /** The source text that is actually running; undefined if V8 no longer has it. */
  sourceOf(scriptId: string): string | undefined;
}

export interface SelfDebugger extends ScriptTexts {
  isFromDisk: false;
  /** Where V8 reports that an error occurred, 1-based; for a SyntaxError, where the text stopped being valid JavaScript. */
  exceptionPlace(error: Error): { line: number; column: number } | undefined;
  close(): void;
}

/** Throws if this Node has no inspector. */
export function openSelfDebugger(): SelfDebugger {
  const inspector = process.getBuiltinModule('node:inspector');
  const session: Session = new inspector.Session();
  const scripts: ScriptParsed[] = [];
  session.connect();
  const close = toUndo(() => session.disconnect());
  session.on('Debugger.scriptParsed', (message) => scripts.push(message.params as ScriptParsed));
  session.post('Debugger.enable');
  return {
    isFromDisk: false,
    isOfV8: true,
    scripts,
    sourceOf(scriptId) {
      let source: string | undefined;
      session.post('Debugger.getScriptSource', { scriptId }, (error, result) => {
        if (!error) source = result.scriptSource;
      });
      return source;
    },
    exceptionPlace: (error) => exceptionPlace(session, error),
    close,
  };
}

/** During one evaluation the error is reachable by a symbol on the global object. */
function exceptionPlace(session: Session, error: Error): { line: number; column: number } | undefined {
  const key = Symbol.for('agentdump.error');
  let place: { line: number; column: number } | undefined;
  Object.defineProperty(globalThis, key, { value: error, configurable: true });
  session.post(
    'Runtime.evaluate',
    { expression: `globalThis[Symbol.for('agentdump.error')]` },
    (_, answer) => {
      const errorObjectId = answer?.result?.objectId;
      // Experimental, and so not in the type definitions.
      const post = session.post.bind(session) as (method: string, parameters: object, seen: Details) => void;
      post('Runtime.getExceptionDetails', { errorObjectId }, (fault, details) => {
        const { lineNumber, columnNumber } = (!fault && details?.exceptionDetails) || {};
        if (lineNumber !== undefined) place = { line: lineNumber + 1, column: (columnNumber ?? 0) + 1 };
      });
    },
  );
  Reflect.deleteProperty(globalThis, key);
  return place;
}

type Details = (
  fault: Error | null,
  answer?: { exceptionDetails?: { lineNumber?: number; columnNumber?: number } },
) => void;
