/**
 * The arguments of `napi_fatal_error`, location and message, which it copies into two std::strings in its own frame. Source:
 * Node's src/node_api.cc; libstdc++'s basic_string.h (pointer, length, then the text itself if it is short).
 */
import { type MemoryReader, whereMapped } from '../../../bytes/memory.ts';
import type { NativeFrame } from './native-stack.ts';

const LENGTH = 8;
const TEXT = 16;
const stringBytes = 32;
const maxFrameBytes = 1 << 12;
const maxText = 4096;

/** `location message`, as Node prints them; undefined unless the frame contains exactly these two strings. */
export function findFatalWords(
  frame: NativeFrame,
  caller: NativeFrame,
  memory: MemoryReader,
): string | undefined {
  const end = Math.min(caller.stackPointer, frame.stackPointer + maxFrameBytes);
  const found: string[] = [];
  for (let at = frame.stackPointer; at + stringBytes <= end; at += 8) {
    const text = whereMapped(() => readString(at, memory));
    if (text === undefined) continue;
    found.push(text);
    at += stringBytes - 8;
  }
  if (found.length !== 2) return undefined;
  return found.join(' ').trim() || undefined;
}

/** Undefined if it is not a std::string: its text must end with a zero at its length. */
function readString(at: number, memory: MemoryReader): string | undefined {
  const start = memory.readWord(at);
  const length = memory.readWord(at + LENGTH);
  if (!(length >= 0 && length <= maxText)) return undefined;
  const isShort = start === at + TEXT;
  if (isShort !== length < stringBytes - TEXT) return undefined;
  if (!isShort && memory.readWord(at + TEXT) < length) return undefined;
  const bytes = Buffer.from(memory.readBytes(start, length + 1));
  return bytes.indexOf(0) === length ? bytes.toString('utf8', 0, length) : undefined;
}
