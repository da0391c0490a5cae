/**
 * Says which tools can't be seen to run: an MCP server in the same process answers over a transport of its own (InMemoryTransport), and
 * Mastra, Anthropic's tool runner and a Runner of OpenAI Agents with `tracingDisabled` call tools themselves. None of them publishes anything, so silence about a running tool would be read as "none ran".
 */
import { partNames } from '../../../bundle/layout/bundle.ts';
import type { Verdict } from '../../../model/verdict.ts';
import type { VerdictFacts } from '../facts.ts';

const atWork = new Set<Verdict['kind']>([
  'uncaught-exception',
  'unhandled-rejection',
  'event-loop-hang',
  'no-progress',
  'heap-out-of-memory',
  'killed',
  'exit',
  'pending-exit',
]);

/** By package: whose tools they are. */
const unheard: Record<string, string> = {
  '@modelcontextprotocol/sdk': 'an MCP server in this process',
  '@mastra/core': 'Mastra',
  '@anthropic-ai/sdk': "Anthropic's tool runner",
  '@openai/agents-core': 'a Runner of OpenAI Agents without tracing',
};

/** `loaded`: the account's packages have those too that are only in the lock file. */
export function sayUnheardTools(
  reached: Verdict,
  { account: { agent } }: Pick<VerdictFacts, 'account'>,
  loaded: readonly { name: string }[],
): Verdict {
  if (!atWork.has(reached.kind) || agent?.diedIn?.toolId !== undefined) return reached;
  const hasServer = (agent?.servers ?? []).length > 0;
  // Most programs that load it call their tools themselves.
  const asked = (agent?.runs ?? []).flatMap(({ requested = [] }) => requested);
  const isAsked = asked.some((text) => text.endsWith('not seen to run'));
  const hasSteps = agent?.runs.some(({ steps }) => steps.length > 0) === true;
  const isFound = (name: string) => asked.some((text) => text.endsWith(`awaited by ${name}`));
  const names = Object.keys(unheard).filter(
    (name) =>
      !(name.startsWith('@modelcontextprotocol') && hasServer) &&
      (name !== '@anthropic-ai/sdk' || isAsked) &&
      (name !== '@openai/agents-core' || (isAsked && !hasSteps)) &&
      !isFound(name) &&
      loaded.some((one) => one.name === name),
  );
  if (names.length === 0) return reached;
  const whose = names.map((name) => unheard[name]).join(' or of ');
  const fact = `Whether a tool of ${whose} was running is not known: ${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} loaded, and such calls leave no trace.`;
  return { ...reached, evidence: [...reached.evidence, { fact, part: partNames.packages }] };
}
