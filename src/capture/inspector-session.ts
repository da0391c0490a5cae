/**
 * A debugger session of this thread with itself, opened at the moment of death only: before it, Debugger.enable would
 * make hot code ten times slower. Posts answer synchronously on the thread's own session (seen on Node 20, 22, 24, 26).
 */
import type { Session } from 'node:inspector';

export interface ScriptParsed {
  scriptId: string;
  url: string;
  hash: string;
  sourceMapURL?: string;
  isModule?: boolean;
  length?: number;
}

export interface SelfDebugger {
  scripts: ScriptParsed[];
  /** The text that is really running; undefined when V8 no longer has it. */
  sourceOf(scriptId: string): string | undefined;
  close(): void;
}

/** Throws when this Node has no inspector. */
export function openSelfDebugger(): SelfDebugger {
  const inspector = process.getBuiltinModule('node:inspector');
  const session: Session = new inspector.Session();
  const scripts: ScriptParsed[] = [];
  session.connect();
  session.on('Debugger.scriptParsed', (message) => scripts.push(message.params as ScriptParsed));
  session.post('Debugger.enable');
  return {
    scripts,
    sourceOf(scriptId) {
      let source: string | undefined;
      session.post('Debugger.getScriptSource', { scriptId }, (error, result) => {
        if (!error) source = result.scriptSource;
      });
      return source;
    },
    close() {
      session.disconnect();
    },
  };
}
