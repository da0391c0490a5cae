/**
 * While we read the program's own values, code of the program may run (a getter, a provider, a method that it has replaced).
 * If that code calls process.exit, the process would end because of us, with a different exit code: such a call throws here
 * instead, and the caller treats the value as unreadable.
 */
import { enterOwnWork, ownWork } from '../../agent/taps/own-work.ts';
import { descriptorOf, putBack } from './intrinsics/intrinsics.ts';

const { apply } = Reflect;
/** process.exit calls the first of them, unless it was refused before (own-work.ts). */
const endings = ['reallyExit', 'abort'] as const;
let shields = 0;

function refuse(): never {
  throw new Error('the process is ending already: this call came from a value that was being read');
}

/** Returns what `run` returns. Throws what it throws. */
export function shieldExit<Value>(run: () => Value): Value {
  if (shields > 0) return run();
  const { depth } = ownWork;
  enterOwnWork();
  shields++;
  const target = process as unknown as Record<string, unknown>;
  const saved = { __proto__: null } as unknown as Record<number, PropertyDescriptor | undefined>;
  const exiting = target['_exiting'];
  const exitCode = descriptorOf(target, 'exitCode');
  const codeBefore = process.exitCode;
  for (let at = 0; at < endings.length; at++) {
    const name = endings[at] as string;
    const before = descriptorOf(target, name);
    saved[at] = before;
    if (before?.configurable)
      putBack(target, name, { __proto__: null, ...before, value: refuse } as PropertyDescriptor);
  }
  try {
    return apply(run, undefined, []);
  } finally {
    for (let at = 0; at < endings.length; at++)
      if (saved[at]?.configurable) putBack(target, endings[at] as string, saved[at]);
    // Set by process.exit(code) if it was called through a copy that the program kept.
    if (target['_exiting'] !== exiting) target['_exiting'] = exiting;
    if (exitCode && process.exitCode !== codeBefore) process.exitCode = codeBefore;
    shields--;
    ownWork.depth = depth;
  }
}
