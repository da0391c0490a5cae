/** `agent-events.json`: what the agent was doing, from the recorder's ring; cleaned when it was recorded. */
import { partNames } from '../../bundle/layout.ts';
import type { PartProducer } from './part.ts';

export const agentEventsPart: PartProducer = {
  name: partNames.agentEvents,
  produce({ recording, openPart }): undefined {
    const text = recording?.renderPart();
    if (text === undefined) return;
    const part = openPart(partNames.agentEvents);
    part.write(text);
    part.close();
  },
};
