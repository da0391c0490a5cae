/**
 * The object that a promise was rejected with. Node wraps what is no error in one of its own, which names only the class
 * (`#<Object>`), and gives the value itself to nobody but its own function, which is still on the stack: a pause there reads it (Node
 * 20 to 26).
 */
import type { Session } from 'node:inspector';
import { types } from 'node:util';
import { putBack, putProperty } from '../host/intrinsics/intrinsics.ts';
import { findField } from '../host/read-field.ts';
import { mayLookAtAll } from './scripts-on-disk.ts';

/** Primitive values are in the message. */
const namesClass = /with the reason "(?:#<|\[object )[^"]*"\.$/;
const holders = new Set(['throwUnhandledRejectionsMode', 'strictUnhandledRejectionsMode']);
const slotName = '__agentdumpRejected';

/** Undefined if `thrown` is not such a wrapper, and if the value can't be read. Never throws. */
export function findRejectedObject(thrown: unknown): object | undefined {
  try {
    if (!types.isNativeError(thrown) || findField(thrown, 'code') !== 'ERR_UNHANDLED_REJECTION')
      return undefined;
    if (!namesClass.test(String(findField(thrown, 'message'))) || !mayLookAtAll()) return undefined;
    const found = readAtPause();
    return typeof found === 'object' && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

function readAtPause(): unknown {
  const inspector = process.getBuiltinModule('node:inspector');
  // Somebody who debugs the program from outside would be stopped, too.
  if (inspector.url() !== undefined) return undefined;
  let found: unknown;
  const take = (value: unknown): void => {
    found = value;
  };
  if (!putProperty(globalThis, slotName, take)) return undefined;
  const session: Session = new inspector.Session();
  try {
    // The program may replace the method of the prototype, and would then be called at the pause.
    putProperty(session, 'emit', session.emit);
    session.connect();
    session.on('Debugger.paused', ({ params }) => {
      const holder = params.callFrames.find(({ functionName }) => holders.has(functionName));
      if (holder)
        session.post('Debugger.evaluateOnCallFrame', {
          callFrameId: holder.callFrameId,
          expression: `${slotName}(reason)`,
          silent: true,
        });
    });
    session.post('Debugger.enable');
    // Pauses before it returns.
    session.post('Debugger.pause');
    session.post('Debugger.disable');
  } finally {
    session.disconnect();
    putBack(globalThis, slotName, undefined);
  }
  return found;
}
