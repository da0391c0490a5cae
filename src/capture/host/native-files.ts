/**
 * The native functions that `node:fs` calls: mock-fs replaces them, so that files exist in memory only, and what we write would
 * be written there.
 */
import { originalsOf } from './originals.ts';

type Functions = Record<PropertyKey, unknown>;

export const nativeFunctionsOfFs: readonly object[] = findThem();
const withThem = originalsOf(nativeFunctionsOfFs);
const [functions] = nativeFunctionsOfFs as readonly Functions[];
const { open, writeBuffer } = functions ?? {};

/**
 * Runs synchronous work with them as they were when the preload was loaded. A look at two of them shows whether that is
 * necessary: each record of a journal is such work.
 */
export function onDisk<Result>(work: () => Result): Result {
  if (!functions || (functions['open'] === open && functions['writeBuffer'] === writeBuffer)) return work();
  return withThem(work);
}

/** Asking for them is deprecated, and Node says so if it was told to. */
function findThem(): object[] {
  const { binding } = process as unknown as { binding?: (name: string) => object };
  const words = `${process.execArgv.join(' ')} ${process.env['NODE_OPTIONS'] ?? ''}`;
  const isTold = words.includes('--pending-deprecation') || process.env['NODE_PENDING_DEPRECATION'] === '1';
  if (isTold || process.permission) return [];
  try {
    return binding ? [binding('fs')] : [];
  } catch {
    return [];
  }
}
