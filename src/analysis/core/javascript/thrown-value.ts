/** The value that was thrown when V8 ended the process for it (`--abort-on-uncaught-exception`). */
import type { CoreThread } from '../../../formats/elf-core/core-contents.ts';
import type { Tagged } from '../../../formats/v8/heap/heap.ts';
import { ValueRenderer } from '../../../formats/v8/values.ts';
import type { CoreDump } from '../core-dump.ts';
import { findSymbol } from '../native/native-names.ts';
import { type NativeFrame, walkNativeStack } from '../native/native-stack.ts';
import type { V8Runtime } from './v8-runtime.ts';

const searchedFrames = 24;
const maxBytes = 32 << 10;
/** Not those that make an error of their argument, such as Runtime_ThrowCalledNonCallable. */
const thrower = /Runtime_(?:Re)?ThrowE/;
const quitter = /CreateMessageOrAbort/;

export function findThrownValue(dump: CoreDump, v8: V8Runtime, died: CoreThread): string | undefined {
  const { frames } = walkNativeStack(dump.machine.registersOf(died), dump, false);
  const shown = frames.slice(0, searchedFrames);
  const value = findThrown(dump, shown) ?? findGivenUp(dump, v8, shown);
  return value === undefined ? undefined : new ValueRenderer(v8.heap, v8.functions).render(value);
}

/** A `throw` calls Runtime_Throw, with the value as its only argument, above the frame that entered C++. */
function findThrown(dump: CoreDump, frames: readonly NativeFrame[]): Tagged | undefined {
  const at = frames.findIndex((frame) => thrower.test(findSymbol(frame)?.name ?? ''));
  const framePointer = frames[at + 1]?.framePointer;
  return at < 0 || framePointer === undefined ? undefined : dump.memory.findWord(framePointer + 16);
}

/** What V8 or native code throws is an error: handles of it are on the stack of the two functions that give up. */
function findGivenUp(
  { memory }: CoreDump,
  { heap }: V8Runtime,
  frames: readonly NativeFrame[],
): Tagged | undefined {
  const from = frames.findIndex((frame) => quitter.test(findSymbol(frame)?.name ?? ''));
  const [first, last] = [frames[from], frames[from + 2]];
  if (!first || !last) return undefined;
  const found = new Set<Tagged>();
  const end = Math.min(last.stackPointer, first.stackPointer + maxBytes);
  for (let at = Math.ceil(first.stackPointer / 8) * 8; at < end; at += 8) {
    const handle = memory.findWord(at) ?? 0;
    const value = handle % 8 === 0 ? memory.findWord(handle) : undefined;
    if (value !== undefined && heap.isType(value, heap.layout.types.jsError)) found.add(value);
  }
  // An older handle may be left there, of another error.
  return found.size === 1 ? [...found][0] : undefined;
}
