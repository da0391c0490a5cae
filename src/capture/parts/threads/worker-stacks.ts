/** `worker-stacks.json`: the stacks of worker threads when `agentdump ci` looked at them before it requested a bundle. */
import { partNames, type WorkerStacksPart } from '../../../bundle/layout/bundle.ts';
import type { PartProducer } from '../part.ts';

export const workerStacksPart: PartProducer = {
  name: partNames.workerStacks,
  produce({ tests, trigger, addGap }): WorkerStacksPart | undefined {
    const seen = trigger.isMainThread ? tests?.workerStacks() : undefined;
    for (const reason of seen?.gaps ?? []) addGap(partNames.workerStacks, reason);
    return seen?.workers.length ? { workers: seen.workers } : undefined;
  },
};
