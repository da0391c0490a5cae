/** `suspended.json`: what async functions of the program waited for, where nothing was thrown that says it. */
import { partNames, type SuspendedPart, type TriggerKind } from '../../bundle/layout.ts';
import { ownTime } from '../own-time.ts';
import { listSuspended } from '../suspended.ts';
import type { PartProducer } from './part.ts';

/** The ends and looks at which a program waits. */
const waitingKinds = new Set<TriggerKind>([
  'pending-exit',
  'no-progress',
  'signal',
  'snapshot-signal',
  'snapshot-call',
]);
/** V8 collects all garbage first: 30 ms, and 5 a MB. */
const mostUsedBytes = 64 * 1024 ** 2;
/** Of a death by a signal that is no test's: it has 250 ms in all. */
const mostUsedBytesOfDeath = 12 * 1024 ** 2;
const longestMs = 50;
const mostStacks = 100;

export const suspendedPart: PartProducer = {
  name: partNames.suspended,
  produce({ trigger, mayDebug, tests, stackTexts, addGap }): SuspendedPart | undefined {
    if (!waitingKinds.has(trigger.kind) || trigger.stall) return undefined;
    const usedBytes = process.getBuiltinModule('node:v8').getHeapStatistics().used_heap_size;
    const most = trigger.kind === 'signal' && !tests ? mostUsedBytesOfDeath : mostUsedBytes;
    if (!mayDebug || usedBytes > most) {
      addGap(partNames.suspended, 'the heap was too large to list its promises in the time of a death');
      return undefined;
    }
    const time = ownTime();
    const { promises, left, stacks } = listSuspended(() => time.usedMs() < longestMs);
    if (left > 0) addGap(partNames.suspended, `${promises} of ${promises + left} promises were looked at`);
    if (stacks.length === 0) return undefined;
    const kept = stacks.slice(0, mostStacks);
    if (stacks.length > mostStacks)
      addGap(partNames.suspended, `${stacks.length} stacks; ${mostStacks} are kept`);
    // So that the texts of these functions are kept too.
    stackTexts.push(...kept);
    return { promises, stacks: kept };
  },
};
