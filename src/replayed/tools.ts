/**
 * Offers recorded results to the tool calls of `agent.tool`, for the tools that the user has chosen. Each is given once,
 * in the order of the recording.
 */
import type { ReplayPlan } from './plan.ts';

/** `agent/api-replayed.ts` looks here: it is another instance, and shares no more than this. */
const toolsSymbol = Symbol.for('agentdump.replay.tools');

export function offerTools({ tools = {} }: ReplayPlan): void {
  const take = (name: string) => (Object.hasOwn(tools, name) ? tools[name]?.shift() : undefined);
  Object.defineProperty(globalThis, toolsSymbol, { value: { take } });
}
