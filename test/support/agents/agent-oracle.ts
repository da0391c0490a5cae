/** Compares the recorded conversations of a program with what the mock server saw as the model. */
import assert from 'node:assert/strict';
import { computeConversations, listMessages } from '../../../src/analysis/agent/calls/conversations.ts';
import { readAgentRecords } from '../../../src/analysis/agent/events.ts';
import { computeAgentState } from '../../../src/analysis/agent/timeline.ts';
import type { MessagePart } from '../../../src/journal/layout/agent.ts';
import type { AgentState, ModelCall } from '../../../src/model/agent-state.ts';
import type { ProgramRun } from './agent-preload.ts';
import type { OracleMessage, SeenCall } from './mock-model-server.ts';

export function stateOf(run: Pick<ProgramRun, 'events'>): AgentState {
  return computeAgentState(readAgentRecords(run.events));
}

/** One utterance, independent of the message that contained it, because APIs group them differently. */
type Said = [who: string, what: string];

const isEmpty = (part: { content?: unknown }) => part.content === '';

function saidByPart(role: string, part: MessagePart): Said[] {
  switch (part.type) {
    case 'text':
      return isEmpty(part) ? [] : [[role === 'developer' ? 'system' : role, part.content]];
    case 'tool_call':
      return [['call', `${part.id} ${part.name} ${JSON.stringify(part.arguments)}`]];
    case 'tool_call_response':
      return [['result', `${part.id} ${textOf(part.response)}`]];
    case 'reasoning':
      return [];
    default:
      return [['other', JSON.stringify(part)]];
  }
}

function textOf(response: unknown): string {
  if (typeof response === 'string') return response;
  if (Array.isArray(response)) return response.map((part) => part.content ?? '').join('');
  return JSON.stringify(response);
}

function saidByOracle(messages: OracleMessage[]): Said[] {
  return messages.flatMap((message) => [
    ...(message.toolResults ?? []).map((result): Said => ['result', `${result.id} ${result.content}`]),
    ...(message.text ? [[message.role, message.text] as Said] : []),
    ...(message.toolCalls ?? []).map(
      (call): Said => ['call', `${call.id} ${call.name} ${JSON.stringify(call.arguments)}`],
    ),
  ]);
}

/** The recorded calls in order, each with everything that was said up to and including its reply. */
export function recordedCalls(run: Pick<ProgramRun, 'events'>): { said: Said[]; call: ModelCall }[] {
  const { events } = readAgentRecords(run.events);
  const conversations = computeConversations(events);
  const calls = stateOf(run)
    .runs.flatMap((one) => one.modelCalls)
    .toSorted((a, b) => Number(a.id?.slice(1)) - Number(b.id?.slice(1)));
  return calls.map((call) => {
    const start = events.find((event) => event.kind === 'model.start' && event.call === call.id);
    const system = start?.kind === 'model.start' && start.system ? [start.system] : [];
    const ids = [...system, ...listMessages(conversations, call.id ?? '')];
    const said = ids.flatMap((id) => {
      const message = conversations.messages.get(id);
      return message ? message.parts.flatMap((part) => saidByPart(message.role, part)) : [];
    });
    return { said, call };
  });
}

/** The oracle's view of a call: what the model saw, and what it answered. */
export function saidBy({ reply, system, conversation }: SeenCall): { input: Said[]; output: Said[] } {
  const input = [...(system ? [['system', system] as Said] : []), ...saidByOracle(conversation)];
  const spoken = reply && { role: 'assistant', text: reply.text, toolCalls: reply.toolCalls };
  return { input, output: saidByOracle(spoken ? [spoken] : []) };
}

export function oracleSaid(call: SeenCall): Said[] {
  const { input, output } = saidBy(call);
  return [...input, ...output];
}

/** Asserts that every call of the oracle was recorded, with the same conversation, reply and token counts. */
export function assertSameAsOracle(run: Pick<ProgramRun, 'events'>, calls: SeenCall[], what: string): void {
  const recorded = recordedCalls(run);
  assert.equal(recorded.length, calls.length, `${what}: number of calls`);
  for (const [n, seen] of calls.entries()) {
    const { said, call } = recorded[n] ?? assert.fail();
    assert.deepEqual(said, oracleSaid(seen), `${what}: conversation at call ${n}`);
    if (seen.reply)
      assert.deepEqual(
        [call.status, call.inputTokens, call.outputTokens],
        ['finished', seen.reply.usage.input, seen.reply.usage.output],
        `${what}: end and tokens of call ${n}`,
      );
  }
}
