/**
 * Runs a function with a hard limit on its time, synchronously: V8 terminates it when the limit is over, even inside
 * an endless loop of the host's code (measured: 0.1 ms a call on Node 20, 22, 24, 26). A wait inside native code is
 * not interrupted.
 *
 * Node has a thread for it, with a loop of its own, and aborts the process where it gets neither. A program that has used up its
 * descriptors or threads must not die of that, least of all one that goes on: there the function runs without a limit.
 */
import { platform } from '../../platform/index.ts';
import { countFreeDescriptors } from './free-descriptors.ts';

type Slot = { run: (() => unknown) | undefined };

/** Not a symbol: making one may run what the program has put in the place of Symbol.for. */
const slotKey = 'agentdump:deadline';
/** Of the loop: six at most on Node 20 to 26, of which io_uring takes some. */
const leastDescriptors = 6;
/** Beside what the bundle's writer opens between two looks. */
const ampleDescriptors = 20;
/** The host runs nothing meanwhile, but its other threads do. */
const ampleForMs = 1000;
let ampleUntil = Number.NEGATIVE_INFINITY;
let script: { runInThisContext(options: { timeout: number }): unknown } | undefined;

/** The call took longer than it may. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** What `run` returns; throws what it throws, and DeadlineExceeded after `limitMs`. */
export function runWithDeadline<Value>(limitMs: number, run: () => Value): Value {
  if (!mayWatchTime()) return run();
  const vm = process.getBuiltinModule('node:vm');
  script ??= new vm.Script(`globalThis['${slotKey}'].run()`, {
    filename: 'agentdump:deadline',
  });
  const slot: Slot = { run };
  Object.defineProperty(globalThis, slotKey, { value: slot, configurable: true, enumerable: false });
  try {
    return script.runInThisContext({ timeout: Math.max(1, Math.ceil(limitMs)) }) as Value;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new DeadlineExceeded(`took longer than ${Math.ceil(limitMs)} ms`);
    throw error;
  } finally {
    Reflect.deleteProperty(globalThis, slotKey);
  }
}

function mayWatchTime(): boolean {
  if (performance.now() < ampleUntil) return true;
  const free = countFreeDescriptors(ampleDescriptors);
  if (free < leastDescriptors || !platform.mayStartThread()) return false;
  if (free === ampleDescriptors) ampleUntil = performance.now() + ampleForMs;
  return true;
}
