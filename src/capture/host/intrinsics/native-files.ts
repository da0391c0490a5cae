/**
 * The native functions that `node:fs` calls. mock-fs replaces them, so that files exist in memory only; without the original ones,
 * our files would exist only there too.
 */
import { originalsOf } from './originals.ts';

type Functions = Record<PropertyKey, unknown>;

export const nativeFunctionsOfFs: readonly object[] = findThem();
const withThem = originalsOf(nativeFunctionsOfFs);
const [functions] = nativeFunctionsOfFs as readonly Functions[];
const { open, writeBuffer } = functions ?? {};

/**
 * Runs synchronous work with them as they were when the preload was loaded. This is done for each record of a journal, so only two
 * of them are compared to find out whether they were replaced.
 */
export function onDisk<Result>(work: () => Result): Result {
  if (!functions || (functions['open'] === open && functions['writeBuffer'] === writeBuffer)) return work();
  return withThem(work);
}

/** `process.binding` is deprecated: it is not called where Node would warn of that. */
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
