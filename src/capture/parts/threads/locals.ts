/**
 * `locals.json`: the variables at the throw point, if the debugger was armed (AGENTDUMP_LOCALS=uncaught), or where the
 * watchdog interrupted the main thread.
 */
import { type LocalsPart, partNames } from '../../../bundle/layout/bundle.ts';
import { canary, canaryName, countUprooted, requireWithheld } from '../../fatal-path/canary.ts';
import { takeLocals, whyNotPaused } from '../../stacks/locals-recorder.ts';
import { addFrames } from '../../stacks/script-excerpt.ts';
import type { PartProducer } from '../part.ts';

/** The variables of the first scope that is listed. */
function firstVariables({ frames }: LocalsPart): { name: string; value: string }[] | undefined {
  return frames.find((frame) => frame.scopes.length > 0)?.scopes[0]?.variables;
}

export const localsPart: PartProducer = {
  name: partNames.locals,
  canaryPlace: {
    plant(part: LocalsPart) {
      firstVariables(part)?.unshift({ name: canaryName, value: canary() });
    },
    uproot(copy: LocalsPart) {
      const variables = firstVariables(copy);
      if (variables) countUprooted(requireWithheld(variables.shift()?.value));
    },
  },
  produce(context): LocalsPart | undefined {
    // Always taken, because the recorder also records a pause by which the thread was interrupted.
    const recorded = takeLocals();
    const frames = context.locals ?? (context.thrown && recorded);
    const reason = context.config.locals === 'uncaught' && !frames ? whyNotPaused() : undefined;
    if (reason !== undefined) context.addGap(partNames.locals, reason);
    addFrames(context.framePlaces, frames ?? []);
    return frames && { frames };
  },
};
