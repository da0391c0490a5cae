/**
 * The verdict kind in a bundle's folder name, from the trigger and the thrown value alone: a first guess for people who
 * list the folder. The analysis decides with everything at hand.
 */
import { loaderCodes, meansExhaustion, workerMemoryCode } from '../../bundle/layout/verdict-codes.ts';
import { causesOf } from '../host/cause-chain.ts';
import { findField } from '../host/read-field.ts';
import type { InsideKind } from './request.ts';

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

/** @param endsWorker a worker thread ends with it. */
export function hintVerdictKind(kind: InsideKind, endsWorker: boolean, thrown: unknown): string {
  const plain = plainKinds[kind];
  if (kind !== 'uncaught-exception' && kind !== 'unhandled-rejection') return plain;
  const chain = causesOf(thrown).map(readError);
  // As analysis decides: what could not be loaded by its first cause, what ran out by any error of the chain.
  if (chain.some(({ code, said }) => meansExhaustion(code, said))) return 'resource-exhaustion';
  const root = chain.at(-1);
  if (root && (loaderCodes.has(root.code) || isCompileError(root.stack))) return 'startup-failure';
  return endsWorker || chain.some(({ code }) => code === workerMemoryCode) ? 'worker-death' : plain;
}

/** A SyntaxError that Node's own loader threw, not one from JSON.parse or new Function in the program. */
function isCompileError(stack: string): boolean {
  if (!/^(?:.*\n){0,12}?SyntaxError\b/.test(stack)) return false;
  const firstFrame = /^\s+at .*$/m.exec(stack)?.[0] ?? '';
  return /node:internal\/(modules|vm)|wrapSafe|compileSourceTextModule/.test(firstFrame);
}

function readError(thrown: unknown): { code: string; stack: string; said: string } {
  const [code, stack, call, message] = ['code', 'stack', 'syscall', 'message'].map((name) => {
    const value = findField(thrown, name);
    return typeof value === 'string' ? value.slice(0, 8192) : '';
  });
  return { code: code ?? '', stack: stack ?? '', said: `${call} ${message}` };
}
