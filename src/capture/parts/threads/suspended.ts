/** `suspended.json`: what async functions of the program waited for, if no thrown value shows it. */
import { partNames, type SuspendedPart, type TriggerKind } from '../../../bundle/layout/bundle.ts';
import { makeStack } from '../../host/intrinsics/own-stack.ts';
import { ownTime } from '../../host/own-time.ts';
import { listSuspended } from '../../stacks/suspended.ts';
import type { CaptureContext, PartProducer } from '../part.ts';

/** The triggers at which a program may be waiting. */
const waitingKinds = new Set<TriggerKind>([
  'pending-exit',
  'no-progress',
  'signal',
  'snapshot-signal',
  'snapshot-call',
]);
const thrownKinds = new Set<TriggerKind>(['uncaught-exception', 'unhandled-rejection', 'exit']);
const mostUsedBytes = 64 * 1024 ** 2;
/** A runner has its own code and that of the tests on the heap, and nobody waits for a test that has failed. */
const mostUsedByTestsBytes = 192 * 1024 ** 2;
const longestMs = 50;
const mostStacks = 100;
/** A death by signal has 250 ms in total, and its sender waits for it. */
const ofDeathMs = 230;
/**
 * Measured on one machine: listing, including the garbage collection before it; what a death has used up to here, and in
 * total.
 */
const listingMs = { least: 30, perMb: 7 };
const usedUpToHereMs = 40;
const usedInAllMs = 85;

export const suspendedPart: PartProducer = {
  name: partNames.suspended,
  isUncut: true,
  produce(context): SuspendedPart | undefined {
    const { trigger, tests, addGap, stackTexts, ownFile } = context;
    if (!(waitingKinds.has(trigger.kind) || mayRunTools(context)) || trigger.stall) return undefined;
    const reason = whyNot(context);
    if (reason !== undefined) {
      addGap(partNames.suspended, reason);
      return undefined;
    }
    // From the first look: the list itself, with a collection before it, takes as long on a busy machine.
    let time: ReturnType<typeof ownTime> | undefined;
    const { promises, left, stacks } = listSuspended(
      () => {
        time ??= ownTime();
        return time.usedMs() < longestMs;
      },
      ownFile,
      tests?.contextsOfTests?.(),
    );
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

/**
 * The model asked for tools, and nothing reports the start of one: a function of the program that a package awaits may be one. A death
 * by an error has no time to list them, which is no gap of it.
 */
function mayRunTools({ trigger, recording, tests, config }: CaptureContext): boolean {
  const { asked = 0, hearsTools } = recording?.recorder ?? {};
  const hasTime = tests !== undefined || config.heap === 'always';
  return hasTime && thrownKinds.has(trigger.kind) && asked > 0 && !hearsTools;
}

function whyNot({ config, trigger, mayDebug, tests, time }: CaptureContext): string | undefined {
  const usedBytes = process.getBuiltinModule('node:v8').getHeapStatistics().used_heap_size;
  if (!mayDebug || usedBytes > (tests ? mostUsedByTestsBytes : mostUsedBytes))
    return 'the heap was too large to list its promises';
  if (isInVmCode())
    return 'code run by node:vm led here, and its time limit might end the listing, of which Node would die';
  if (trigger.kind !== 'signal' || tests || config.heap === 'always') return undefined;
  // The time used so far shows how fast the machine is.
  const ms = usedInAllMs + listingMs.least + listingMs.perMb * (usedBytes / 1024 ** 2);
  return (ms / usedUpToHereMs) * time.usedMs() > ofDeathMs
    ? 'to list the promises would have taken too long for a death by a signal'
    : undefined;
}

const deepest = 10_000;

/** Whether the program may have set a time limit to what runs here (`listSuspended`). */
const isInVmCode = (): boolean => /\(node:vm:\d/.test(String(makeStack(deepest, undefined)));
