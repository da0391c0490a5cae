/**
 * Returns recorded results from the tools of an AI SDK program. The SDK (7 and later) publishes the arguments of each
 * generation on a diagnostics channel, including the host's own tool objects, whose `execute` is replaced. Seen in 7.0.173.
 */
import { subscribe } from 'node:diagnostics_channel';
import { outcomeOf, takeTool } from './tools.ts';

interface Started {
  type?: unknown;
  event?: { tools?: unknown };
}
type Execute = (...words: unknown[]) => unknown;

const begins = new Set(['generateText', 'streamText']);

export function offerToolsToAiSdk(names: readonly string[]): void {
  if (names.length === 0) return;
  subscribe('tracing:ai:telemetry:start', (message) => {
    const { type, event } = message as Started;
    const { tools } = event ?? {};
    if (!begins.has(String(type)) || typeof tools !== 'object' || tools === null) return;
    for (const name of names) if (Object.hasOwn(tools, name)) answer(name, Object(tools)[name]);
  });
}

const answered = new WeakSet<object>();

/** A tool without `execute` is executed elsewhere. */
function answer(name: string, tool: { execute?: Execute }): void {
  const { execute } = tool;
  if (typeof execute !== 'function' || answered.has(tool)) return;
  answered.add(tool);
  tool.execute = async function (this: unknown, ...words: unknown[]) {
    const known = takeTool(name);
    return known ? outcomeOf(known) : execute.apply(this, words);
  };
}
