/**
 * Recorded results of tools that a replay should not run. Calls through `agent.tool`, the AI SDK, LangChain and OpenAI Agents
 * can be answered; other tools are plain functions of the program, whose calls can't be intercepted.
 */
import { AgentdumpError } from '../../errors.ts';
import type { AgentEvent } from '../../journal/layout/agent.ts';
import type { RecordedTool } from '../../replayed/plan.ts';

export interface ToolCalls {
  /** The source of the events: `api` for agent.tool, or a framework. */
  source: string;
  /** In order; for a call that can't be replayed, the reason. */
  calls: (RecordedTool | { refused: string })[];
}

/** The names used in events by `agent/api/api.ts` and the files of `agent/integrations`. */
const answeredSources = new Set(['api', 'ai-sdk', 'langchain', 'openai-agents']);

export function readToolCalls(events: readonly AgentEvent[]): Record<string, ToolCalls> {
  const tools: Record<string, ToolCalls> = Object.create(null);
  const ends = new Map(
    events.flatMap((event) => (event.kind === 'tool.end' ? [[event.id, event] as const] : [])),
  );
  for (const event of events) {
    if (event.kind !== 'tool.start') continue;
    tools[event.name] ??= { source: event.source, calls: [] };
    tools[event.name]?.calls.push(outcomeOf(ends.get(event.id)));
  }
  return tools;
}

/** Throws `usage` for a tool that is not in the recording, or can't be answered. */
export function requireTools(
  tools: Record<string, ToolCalls>,
  names: readonly string[],
): Record<string, RecordedTool[]> {
  return Object.fromEntries(
    names.map((name) => {
      const known = Object.hasOwn(tools, name) ? tools[name] : undefined;
      if (!known) throw unfit(name, `the recording has no call of tool ${name}`);
      if (!answeredSources.has(known.source))
        throw unfit(
          name,
          `tool ${name} was called by ${known.source}: only calls of agent.tool, the AI SDK, LangChain and OpenAI Agents can be answered`,
        );
      const calls = known.calls.filter((call) => !('refused' in call)) as RecordedTool[];
      const [refused] = known.calls.flatMap((call) => ('refused' in call ? call.refused : []));
      // The last call may be the one in which the program died; that one is run.
      if (refused !== undefined && calls.length < known.calls.length - 1)
        throw unfit(name, `tool ${name}: ${refused}`);
      return [name, calls];
    }),
  );
}

function outcomeOf(
  end: Extract<AgentEvent, { kind: 'tool.end' }> | undefined,
): RecordedTool | { refused: string } {
  if (!end) return { refused: 'a call has no end' };
  const text = JSON.stringify(end.result) ?? '';
  if (text.includes('…[cut: ')) return { refused: 'a result was too long to be kept whole' };
  if (/\[redacted:[a-z0-9-]{1,40}#[0-9a-f]{8}/.test(text))
    return { refused: 'a result held a secret, which is not kept' };
  if (isOfLangGraph(end)) return { refused: 'a call steered the graph, or asked a person' };
  // If both are present, the result is the text that the model received instead of the error.
  if (end.error && end.result === undefined)
    return { error: { type: end.error.type ?? 'Error', message: end.error.message ?? '' } };
  return end.result === undefined ? {} : { result: end.result };
}

/** LangGraph's Command, and the error with which a graph stops for human input: objects that can't be restored from JSON. */
function isOfLangGraph({ result, error }: Extract<AgentEvent, { kind: 'tool.end' }>): boolean {
  const isCommand = typeof result === 'object' && result !== null && 'lg_name' in result;
  return isCommand || error?.type === 'GraphInterrupt';
}

function unfit(name: string, message: string): AgentdumpError {
  return new AgentdumpError('usage', message, { argument: 'tool', tool: name });
}
