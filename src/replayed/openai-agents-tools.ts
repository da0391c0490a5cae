/**
 * Returns recorded results from the function tools of OpenAI's Agents SDK, which emits `agent_tool_start` with the tool
 * before it calls the tool's `invoke`. That method is replaced. Seen in @openai/agents 0.20.0.
 */
import { EventEmitter } from 'node:events';
import { outcomeOf, takeTool } from './tools.ts';

interface FunctionTool {
  type: 'function';
  name: string;
  invoke: (...words: unknown[]) => unknown;
}

export function offerToolsToOpenaiAgents(names: readonly string[]): void {
  if (names.length === 0) return;
  const emit = EventEmitter.prototype.emit as (this: EventEmitter, ...words: unknown[]) => boolean;
  EventEmitter.prototype.emit = function (this: EventEmitter, ...words: unknown[]) {
    if (words[0] === 'agent_tool_start') for (const word of words) if (isFunctionTool(word)) answer(word);
    return emit.apply(this, words);
  } as typeof EventEmitter.prototype.emit;
}

function isFunctionTool(value: unknown): value is FunctionTool {
  const { type, name, invoke } = (value ?? {}) as Partial<FunctionTool>;
  return type === 'function' && typeof name === 'string' && typeof invoke === 'function';
}

const answered = new WeakSet<object>();

function answer(tool: FunctionTool): void {
  if (answered.has(tool)) return;
  answered.add(tool);
  const { name, invoke } = tool;
  tool.invoke = async function (this: unknown, ...words: unknown[]) {
    const known = takeTool(name);
    return known ? outcomeOf(known) : invoke.apply(this, words);
  };
}
