/** `worker-stacks.json`: the stacks of worker threads when `agentdump ci`, or at a signal the watchdog, looked at them before the bundle was requested. */
import { partNames, type WorkerStacksPart } from '../../../bundle/layout/bundle.ts';
import type { ScriptTexts } from '../../host/inspector-session.ts';
import { addFrames } from '../../stacks/script-excerpt.ts';
import type { CaptureContext, PartProducer } from '../part.ts';

export const workerStacksPart: PartProducer = {
  name: partNames.workerStacks,
  produce({ tests, trigger, seenWorkers, framePlaces, addGap }): WorkerStacksPart | undefined {
    if (seenWorkers) {
      for (const { frames } of seenWorkers.workers) addFrames(framePlaces, frames);
      return { workers: seenWorkers.workers };
    }
    const seen = trigger.isMainThread ? tests?.workerStacks() : undefined;
    for (const reason of seen?.gaps ?? []) addGap(partNames.workerStacks, reason);
    return seen?.workers.length ? { workers: seen.workers } : undefined;
  },
};

/** With the scripts of the workers that were looked at: each thread has its own. */
export function withWorkers<Scripts extends ScriptTexts>(
  self: Scripts,
  { seenWorkers }: CaptureContext,
): Scripts {
  if (!seenWorkers) return self;
  const { scripts } = seenWorkers;
  return {
    ...self,
    scripts: [...scripts.map(({ text: _, ...script }) => script), ...self.scripts],
    sourceOf: (id) => scripts.find(({ scriptId }) => scriptId === id)?.text ?? self.sourceOf(id),
  };
}
