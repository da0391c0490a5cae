/**
 * Selects what is sent to other receivers from an account: who died, of what, and what the agent was doing. Texts are cut to
 * the limits of the receivers. Pure.
 */
import type { Account } from '../../model/account.ts';
import type { AgentRun, ModelCall, ToolCall } from '../../model/agent-state.ts';
import { clip } from '../../model/quantities.ts';
import { readRelease } from '../grouping/release.ts';

export interface ReportedDeath {
  account: Account;
  bundle: { id: string; name: string };
  /** Milliseconds since 1970. */
  atMs: number;
  program: string | undefined;
  /** Where to find the bundle: the name of a store, or the folder on the host. */
  link: string;
}

export interface DeathFacts {
  service: string;
  release: string | undefined;
  environment: string | undefined;
  host: string | undefined;
  traceId: string | undefined;
  run: AgentRun | undefined;
  model: ModelCall | undefined;
  tool: ToolCall | undefined;
}

export const longestText = 8_000;

export function factsOfDeath({ account, program }: ReportedDeath): DeathFacts {
  const { environment, requests, agent } = account;
  const variable = (name: string): string | undefined => {
    const entry = environment?.variables?.[name];
    return entry && 'value' in entry && entry.value ? entry.value : undefined;
  };
  const hostname = environment?.os?.['hostname'];
  const traceId = requests?.find(({ culprit }) => culprit)?.traceId ?? requests?.[0]?.traceId;
  const run = agent?.runs.find(({ status }) => status === 'running') ?? agent?.runs.at(-1);
  return {
    service: variable('OTEL_SERVICE_NAME') ?? program ?? 'node',
    release: readRelease(account).release,
    environment: variable('NODE_ENV'),
    host: typeof hostname === 'string' ? hostname : undefined,
    traceId: traceId !== undefined && /^[0-9a-f]{32}$/.test(traceId) ? traceId : undefined,
    run,
    model: run?.modelCalls.at(-1),
    tool: run?.toolCalls.find(({ status }) => status === 'running') ?? run?.toolCalls.at(-1),
  };
}

/**
 * What the agent was doing, with OpenTelemetry's names for generative AI, without contents of a conversation.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export function agentAttributes({
  run,
  model,
  tool,
}: DeathFacts): Record<string, string | number | undefined> {
  const isToolLast = tool !== undefined && (tool.status === 'running' || model === undefined);
  return {
    'gen_ai.operation.name': isToolLast ? 'execute_tool' : model ? 'chat' : undefined,
    'gen_ai.agent.name': run?.name,
    'gen_ai.conversation.id':
      run?.ids?.['thread_id'] ?? run?.ids?.['conversation_id'] ?? run?.ids?.['session_id'],
    'gen_ai.provider.name': model?.provider,
    'gen_ai.request.model': model?.model,
    'gen_ai.usage.input_tokens': run?.usage?.inputTokens,
    'gen_ai.usage.output_tokens': run?.usage?.outputTokens,
    'gen_ai.tool.name': isToolLast ? tool.name : undefined,
    'gen_ai.tool.call.id': isToolLast ? tool.id : undefined,
  };
}

/** Our own attributes, the same for every receiver. */
export function bundleAttributes({
  account,
  bundle,
  link,
}: ReportedDeath): Record<string, string | undefined> {
  const { verdict, signature } = account;
  return {
    'agentdump.bundle.id': bundle.id,
    'agentdump.bundle.name': bundle.name,
    'agentdump.bundle.link': link,
    'agentdump.verdict.kind': verdict?.kind,
    'agentdump.verdict.confidence': verdict?.confidence,
    'agentdump.signature': signature?.id,
  };
}

export const cutText = (text: string): string => clip(text, longestText);
