/**
 * In a replay, the recorded result of a tool call in the place of the call: for the tools that `agentdump replay --tool`
 * names. Everywhere else one look at a global that is not there.
 */
const toolsSymbol = Symbol.for('agentdump.replay.tools');

interface RecordedTool {
  result?: unknown;
  error?: { type?: string; message?: string };
}

interface ReplayedTools {
  take(name: string): RecordedTool | undefined;
}

/** What is to run: `work`, or what gives its recorded outcome, as a promise where the host's function gives one. */
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
