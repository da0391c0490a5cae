/**
 * The verdict kind in a bundle's folder name, from the trigger and the thrown value alone: a first guess for people who
 * list the folder. The analysis decides with everything at hand.
 */
import { findField } from './read-field.ts';
import type { InsideKind } from './request.ts';

const startupCodes = new Set([
  'MODULE_NOT_FOUND',
  'ERR_MODULE_NOT_FOUND',
  'ERR_DLOPEN_FAILED',
  'ERR_REQUIRE_ESM',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_UNSUPPORTED_DIR_IMPORT',
]);
const exhaustionCodes = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'ENOMEM', 'EADDRNOTAVAIL']);

const plainKinds: Record<InsideKind, string> = {
  'uncaught-exception': 'uncaught-exception',
  'unhandled-rejection': 'unhandled-rejection',
  signal: 'terminated',
  'snapshot-signal': 'snapshot',
  'snapshot-call': 'snapshot',
  'snapshot-memory': 'snapshot',
  exit: 'exit',
  'pending-exit': 'pending-exit',
  'worker-death': 'worker-death',
  'no-progress': 'no-progress',
  stall: 'event-loop-hang',
};

export function hintVerdictKind(kind: InsideKind, isMainThread: boolean, thrown: unknown): string {
  const plain = plainKinds[kind];
  if (kind !== 'uncaught-exception' && kind !== 'unhandled-rejection') return plain;
  const { code, stack } = readCodeAndStack(thrown);
  if (startupCodes.has(code) || isCompileError(stack)) return 'startup-failure';
  if (exhaustionCodes.has(code)) return 'resource-exhaustion';
  return isMainThread && code !== 'ERR_WORKER_OUT_OF_MEMORY' ? plain : 'worker-death';
}

/** A SyntaxError that Node's own loader threw, not one from JSON.parse or new Function in the program. */
function isCompileError(stack: string): boolean {
  if (!/^(?:.*\n){0,12}?SyntaxError\b/.test(stack)) return false;
  const firstFrame = /^\s+at .*$/m.exec(stack)?.[0] ?? '';
  return /node:internal\/(modules|vm)|wrapSafe|compileSourceTextModule/.test(firstFrame);
}

function readCodeAndStack(thrown: unknown): { code: string; stack: string } {
  const code = findField(thrown, 'code');
  const stack = findField(thrown, 'stack');
  return {
    code: typeof code === 'string' ? code : '',
    stack: typeof stack === 'string' ? stack.slice(0, 8192) : '',
  };
}
