/** `agent-events.json`: what the agent was doing, from the recorder's ring; redacted when it was recorded. */
import { partNames } from '../../bundle/layout/bundle.ts';
import { canary, requireWithheld } from '../fatal-path/canary.ts';
import { everyCauseOf } from '../host/cause-chain.ts';
import type { CaptureContext, PartProducer } from './part.ts';

export const agentEventsPart: PartProducer = {
  name: partNames.agentEvents,
  isVital: true,
  produce(context): undefined {
    const { recording, thrown, trigger } = context;
    const causes = thrown ? everyCauseOf(thrown.value) : [];
    const text = recording?.renderPart(Date.parse(trigger.at), causes);
    if (text === undefined) return;
    proveCleaning(context);
    if (knowsMoreNow(context)) {
      context.writeText(partNames.agentEvents, text);
      return;
    }
    const part = context.openPart(partNames.agentEvents);
    part.write(text);
    part.close();
  },
};

/** Sends a message through the same redaction as those of the conversation. Throws UnprovenRedaction. */
function proveCleaning({ recording, recordingPolicy, countRedactions }: CaptureContext): void {
  recordingPolicy?.policy.addKnown(canary());
  const clean = recording?.clean({ parts: [{ type: 'text', text: canary() }] });
  const rule = requireWithheld((clean?.['parts'] as { text?: unknown }[] | undefined)?.[0]?.text);
  if (!recordingPolicy) return;
  recordingPolicy.proofs += 1;
  const counts = recordingPolicy.policy.counts();
  countRedactions(partNames.agentEvents, counts.set(rule, (counts.get(rule) ?? 0) - recordingPolicy.proofs));
}

/** The host has registered values meanwhile: the earlier events are searched for them again. */
function knowsMoreNow({ recordingPolicy, withheldCount }: CaptureContext): boolean {
  return recordingPolicy !== undefined && withheldCount > recordingPolicy.knewFromStart;
}
