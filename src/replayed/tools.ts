/**
 * Offers recorded results to the tool calls of the program, for the tools that the user has chosen. Each is given once,
 * in the order of the recording.
 */
import type { RecordedTool, ReplayPlan } from './plan.ts';

/** `agent/api/api-replayed.ts` looks here: it is another instance, and shares no more than this. */
const toolsSymbol = Symbol.for('agentdump.replay.tools');
let tools: Record<string, RecordedTool[]> = {};

export function offerTools(plan: ReplayPlan): void {
  tools = plan.tools ?? {};
  Object.defineProperty(globalThis, toolsSymbol, { value: { take: takeTool } });
}

export function takeTool(name: string): RecordedTool | undefined {
  return Object.hasOwn(tools, name) ? tools[name]?.shift() : undefined;
}

/** Throws what the tool threw then. */
export function outcomeOf({ error, result }: RecordedTool): unknown {
  if (error) throw Object.assign(new Error(error.message ?? ''), { name: error.type ?? 'Error' });
  return result;
}
