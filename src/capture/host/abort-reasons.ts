/**
 * With which reasons the program aborted, for an error that a client made in place of them. Node's own abort error says
 * nothing more than the client's. V8 lists the signals, after a garbage collection; runs no code of the program.
 */
import { types } from 'node:util';
import { listObjects } from '../heap/list-objects.ts';
import { everyCauseOf } from './cause-chain.ts';
import { findField } from './read-field.ts';

const mostReasons = 3;
const mostUsedBytes = 48 * 1024 ** 2;
const saysAbort = /\babort|Abort|\bcancell?ed\b/;

/** Each once, without what is thrown or a cause of it. Empty if the error does not speak of an abort. Never throws. */
export function abortReasons(thrown: unknown): unknown[] {
  const chain = everyCauseOf(thrown);
  if (!chain.some(isOfAbort)) return [];
  const reasons = new Set<unknown>();
  try {
    if (process.getBuiltinModule('node:v8').getHeapStatistics().used_heap_size > mostUsedBytes) return [];
    listObjects(
      (signals) => {
        for (const signal of signals) reasons.add(reasonOf(signal));
      },
      { example: 'new AbortController().signal' },
    );
  } catch {
    return [];
  }
  return [...reasons].filter((one) => !saysNothing(one) && !chain.includes(one)).slice(0, mostReasons);
}

function isOfAbort(error: unknown): boolean {
  return ['name', 'message'].some((name) => {
    const text = findField(error, name);
    return typeof text === 'string' && saysAbort.test(text.slice(0, 500));
  });
}

/** Node keeps it under a symbol; `reason` is a getter that the program may have replaced. */
function reasonOf(signal: object): unknown {
  const key = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kReason');
  return key && Object.getOwnPropertyDescriptor(signal, key)?.value;
}

/** None, or the event that a client handed on. */
function saysNothing(reason: unknown): boolean {
  if (reason === undefined || reason === null || reason === '') return true;
  if (typeof reason !== 'object') return false;
  if (types.isProxy(reason)) return true;
  return findField(reason, 'type') === 'abort';
}
