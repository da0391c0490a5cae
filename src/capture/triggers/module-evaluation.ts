/**
 * Tells an ES module that threw while it was evaluated (an uncaught exception to whoever wrote it) from a promise that
 * nobody handled: to Node both are unhandled rejections, and it shows the promise to nobody. Decided by the stack: the
 * module's own top-level frame is on it, reached by `await` or without an async function in between.
 */
import { fileURLToPath } from 'node:url';
import { readSmallFile } from '../../platform/small-file.ts';
import { findField } from '../host/read-field.ts';

const maxSourceBytes = 4 * 1024 * 1024;
/** A frame without a function's name: `at file:///app.mjs:3:7`, `at async file:///app.mjs:10:1`. */
const topLevelFrame = /^\s+at (async )?(file:\/\/\S+):(\d+):\d+$/;

export function isFromModuleEvaluation(thrown: unknown): boolean {
  try {
    const stack = findField(thrown, 'stack');
    return typeof stack === 'string' && judgeStack(stack.split('\n', 200));
  } catch {
    return false;
  }
}

function judgeStack(lines: string[]): boolean {
  const index = lines.findIndex((line) => topLevelFrame.test(line));
  const [, isAsync, url = '', line = ''] = topLevelFrame.exec(lines[index] ?? '') ?? [];
  if (index === -1) return false;
  if (isAsync) return true;
  const callers = lines
    .slice(0, index)
    .flatMap((frame) => /^\s+at (?:async )?(?:\S+\.)?(\w+) \(file:/.exec(frame)?.[1] ?? []);
  if (callers.length === 0) return true;
  const source = readSmallFile(fileURLToPath(url), maxSourceBytes) ?? '';
  if (/\bawait\b/.test(source.split('\n')[Number(line) - 1] ?? '')) return true;
  return !callers.some((name) => isDeclaredAsync(name, source));
}

function isDeclaredAsync(name: string, source: string): boolean {
  return new RegExp(`\\basync\\s+(?:function\\s*\\*?\\s*)?${name}\\b|\\b${name}\\s*[=:]\\s*async\\b`).test(
    source,
  );
}
