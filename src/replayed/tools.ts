/**
 * Provides recorded results for the tool calls of the program, for the tools that the user has selected. Each result is used
 * once, in recorded order.
 */
import type { RecordedTool, ReplayPlan } from './plan.ts';

/** `agent/api/api-replayed.ts` looks it up here. It is a separate instance and shares nothing else with this module. */
const toolsSymbol = Symbol.for('agentdump.replay.tools');
let tools: Record<string, RecordedTool[]> = {};

export function offerTools(plan: ReplayPlan): void {
  tools = plan.tools ?? {};
  Object.defineProperty(globalThis, toolsSymbol, { value: { take: takeTool } });
}

export function takeTool(name: string): RecordedTool | undefined {
  return Object.hasOwn(tools, name) ? tools[name]?.shift() : undefined;
}

/** Returns the recorded result, or throws the recorded error. */
export function outcomeOf({ error, result }: RecordedTool): unknown {
  if (error) throw Object.assign(new Error(error.message ?? ''), { name: error.type ?? 'Error' });
  return result;
}
