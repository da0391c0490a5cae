/** `locals.json`: the variables at the throw point, when the debugger was armed (AGENTDUMP_LOCALS=uncaught). */
import { type LocalsPart, partNames } from '../../bundle/layout.ts';
import { takeLocals } from '../locals-recorder.ts';
import type { PartProducer } from './part.ts';

export const localsPart: PartProducer = {
  name: partNames.locals,
  produce(context): LocalsPart | undefined {
    if (!context.thrown) return undefined;
    const frames = takeLocals();
    for (const frame of frames ?? []) context.frameUrls.add(frame.url);
    return frames && { frames };
  },
};
