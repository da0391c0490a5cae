/** Tool calls of a conversation that have no result in any later message: providers reject such a conversation. */
import type { AgentRun } from '../../../model/agent-state.ts';

interface Part {
  type?: unknown;
  id?: unknown;
  name?: unknown;
}

export function findDanglingCalls({ messages }: AgentRun): { id: string; name: string }[] {
  const open = new Map<string, { id: string; name: string }>();
  for (const { content } of messages)
    for (const part of Array.isArray(content) ? (content as Part[]) : []) {
      const id = typeof part?.id === 'string' ? part.id : undefined;
      if (id === undefined) continue;
      if (part.type === 'tool_call') open.set(id, { id, name: String(part.name ?? '') });
      else if (part.type === 'tool_call_response') open.delete(id);
    }
  return [...open.values()];
}
