/**
 * The JavaScript frames that the core reader finds on the stack of the crashed thread, for tests that compare them with V8's
 * own stack.
 */
import assert from 'node:assert/strict';
import { openCoreDump } from '../../../src/analysis/core/core-dump.ts';
import { displayName } from '../../../src/analysis/core/javascript/javascript-frame.ts';
import { openV8 } from '../../../src/analysis/core/javascript/v8-runtime.ts';
import { builtinName, findSymbol } from '../../../src/analysis/core/native/native-names.ts';
import { walkNativeStack } from '../../../src/analysis/core/native/native-stack.ts';
import type { JavaScriptFrame } from '../../../src/formats/v8/frames/frames.ts';

/** The name that `frames.cjs` gives to its generated script. */
export const generatedScript = '/generated/frames.js';

/** JavaScript frames including inlined ones, innermost first; `shown`: the name in the account, without `new`. */
export function readJavaScriptFrames(core: string): (JavaScriptFrame & { shown: string })[] {
  const dump = openCoreDump(core);
  const v8 = openV8(dump, []);
  assert.ok(v8);
  const [thread] = dump.core.threads;
  assert.ok(thread);
  const stack = walkNativeStack(dump.machine.registersOf(thread), dump);
  const found: (JavaScriptFrame & { shown: string })[] = [];
  stack.frames.forEach((frame, i) => {
    const builtin = builtinName(findSymbol(frame));
    if (frame.framePointer === undefined || (frame.location && builtin === undefined)) return;
    const { programCounter, framePointer } = frame;
    const name = builtin === undefined ? {} : { builtin };
    const parts = v8.frames.find({ programCounter, framePointer, isTop: i === 0, ...name });
    if (parts && !('frameType' in parts))
      found.push(...parts.map((part) => ({ ...part, shown: displayName(v8, part, false) })));
  });
  dump.close();
  return found;
}
