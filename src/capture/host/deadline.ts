/**
 * Runs a function with a hard time limit, synchronously: V8 terminates it at the limit, even in an endless loop of the host's
 * code (measured: 0.1 ms per call on Node 20, 22, 24, 26). A wait inside native code is not interrupted.
 *
 * Node uses a thread for this, with an event loop of its own, and aborts the process if it can create neither. A program that
 * has used up its descriptors, threads or addresses must not die of that, least of all one that would survive: in that case the function
 * runs without a limit.
 */
import { ownWork } from '../../agent/taps/own-work.ts';
import { platform } from '../../platform/index.ts';
import { hasAddressRoom, plainThreadBytes } from './address-room.ts';
import { countFreeDescriptors } from './free-descriptors.ts';
import { undoDepth, undoDownTo } from './undo.ts';

type Slot = { run: (() => unknown) | undefined };

/** Not a symbol, because Symbol.for may have been replaced by the program. */
const slotKey = 'agentdump:deadline';
/** Needed by the loop: six at most on Node 20 to 26, some of them for io_uring. */
const leastDescriptors = 6;
/** In addition to what the bundle's writer opens between two checks. */
const ampleDescriptors = 20;
/** The host runs nothing meanwhile, but its other threads do. */
const ampleForMs = 1000;
let ampleUntil = Number.NEGATIVE_INFINITY;
let script: { runInThisContext(options: { timeout: number }): unknown } | undefined;

/** The call exceeded its limit. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** Returns what `run` returns. Throws what it throws, and DeadlineExceeded after `limitMs`. */
export function runWithDeadline<Value>(limitMs: number, run: () => Value): Value {
  if (!mayWatchTime()) return run();
  const vm = process.getBuiltinModule('node:vm');
  script ??= new vm.Script(`globalThis['${slotKey}'].run()`, {
    filename: 'agentdump:deadline',
  });
  const { depth } = ownWork;
  const left = undoDepth();
  const slot: Slot = { run };
  Object.defineProperty(globalThis, slotKey, { value: slot, configurable: true, enumerable: false });
  try {
    return script.runInThisContext({ timeout: Math.max(1, Math.ceil(limitMs)) }) as Value;
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new DeadlineExceeded(`took longer than ${Math.ceil(limitMs)} ms`);
    throw error;
  } finally {
    // V8 runs no `finally` of what it terminates.
    ownWork.depth = depth;
    undoDownTo(left);
    Reflect.deleteProperty(globalThis, slotKey);
  }
}

function mayWatchTime(): boolean {
  if (performance.now() < ampleUntil) return true;
  const free = countFreeDescriptors(ampleDescriptors);
  if (free < leastDescriptors || !hasAddressRoom(plainThreadBytes) || !platform.mayStartThread())
    return false;
  if (free === ampleDescriptors) ampleUntil = performance.now() + ampleForMs;
  return true;
}
