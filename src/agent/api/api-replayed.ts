/**
 * In a replay, returns the recorded result of a tool call instead of calling the tool, for the tools named with `agentdump
 * replay --tool`. Outside of a replay this costs one look-up of an absent global.
 */
const toolsSymbol = Symbol.for('agentdump.replay.tools');

interface RecordedTool {
  result?: unknown;
  error?: { type?: string; message?: string };
}

interface ReplayedTools {
  take(name: string): RecordedTool | undefined;
}

/** The function to run: `work`, or one that returns the recorded outcome, as a promise if the host's function returns one. */
export function replayed<Result>(name: string, work: () => Result, isAsync: boolean): () => Result {
  const tools = (globalThis as Record<symbol, unknown>)[toolsSymbol] as ReplayedTools | undefined;
  const known = tools?.take(name);
  if (!known) return work;
  const outcome = () => {
    const { error, result } = known;
    if (error) throw Object.assign(new Error(error.message ?? ''), { name: error.type ?? 'Error' });
    return result as Result;
  };
  return isAsync ? () => (async () => outcome())() as Result : outcome;
}
