/**
 * Joins tool calls from two sources: those that the host or a framework reported (`tool.start`, `tool.end`), and those in the
 * conversation, where a reply requests a tool and a later request contains its result.
 */
import type { AgentEvent, Message, MessagePart } from '../../../journal/layout/agent.ts';
import type { ToolCall, ToolCallStatus } from '../../../model/agent-state.ts';
import type { Conversations } from './conversations.ts';

export interface ToolInRun {
  run: string | undefined;
  tool: ToolCall;
  startedAt: number;
  isOpen: boolean;
}

type CallPart = Extract<MessagePart, { type: 'tool_call' }>;
type ResponsePart = Extract<MessagePart, { type: 'tool_call_response' }>;

/** `at` is the time of death. */
export function computeToolCalls(
  events: readonly AgentEvent[],
  conversations: Conversations,
  at: number,
): ToolInRun[] {
  const gathering = new ToolGathering(conversations);
  for (const event of events) gathering.add(event);
  return gathering.finish(at);
}

class ToolGathering {
  readonly #conversations: Conversations;
  readonly #tools: ToolInRun[] = [];
  /** The latest call for each of the provider's call ids. */
  readonly #byCallId = new Map<string, ToolInRun>();
  readonly #byEventId = new Map<string, ToolInRun>();
  readonly #runOfCall = new Map<string, { run: string | undefined; step: string | undefined }>();
  /** Messages whose results were already processed: each request may repeat them. */
  readonly #seen = new Set<string>();
  /** Tool calls that were still running when the model was given a result for them. */
  readonly #answeredAt = new Map<ToolInRun, number>();

  constructor(conversations: Conversations) {
    this.#conversations = conversations;
  }

  add(event: AgentEvent): void {
    if (event.kind === 'tool.start') this.#started(event);
    else if (event.kind === 'tool.end') this.#ended(event);
    else if (event.kind === 'model.start') {
      this.#runOfCall.set(event.call, { run: event.run, step: event.step });
      this.#answered(event.call, event.at);
    } else if (event.kind === 'model.end') this.#asked(event.call, event.at);
  }

  finish(at: number): ToolInRun[] {
    for (const entry of this.#tools) {
      if (!entry.isOpen) continue;
      entry.tool.ageMs = at - entry.startedAt;
      const answeredAt = this.#answeredAt.get(entry);
      if (answeredAt === undefined) continue;
      entry.tool.answeredBeforeEndMs = at - answeredAt;
      delete entry.tool.result;
    }
    return this.#tools;
  }

  #started(event: Extract<AgentEvent, { kind: 'tool.start' }>): void {
    const asked = this.#findAsked(event);
    const entry: ToolInRun = asked ?? {
      run: event.run,
      tool: { id: event.callId ?? event.id, name: event.name, status: 'running' },
      startedAt: event.at,
      isOpen: true,
    };
    if (!asked) this.#tools.push(entry);
    entry.tool.status = 'running';
    entry.tool.eventId = event.id;
    entry.tool.startedAt = new Date(event.at).toISOString();
    entry.startedAt = event.at;
    entry.run ??= event.run;
    if (event.step !== undefined) entry.tool.stepId = event.step;
    if (typeof event.request === 'string') entry.tool.serverRequest = event.request;
    if (typeof event.test === 'string') entry.tool.test = event.test;
    if (event.arguments !== undefined) entry.tool.arguments ??= event.arguments;
    this.#byEventId.set(event.id, entry);
    if (event.callId !== undefined) this.#byCallId.set(event.callId, entry);
  }

  /** The model's request that this start carries out: by id, otherwise the oldest open one with the same name. */
  #findAsked({ callId, name }: { callId?: string; name: string }): ToolInRun | undefined {
    if (callId !== undefined) {
      const known = this.#byCallId.get(callId);
      return known?.isOpen ? known : undefined;
    }
    return this.#tools.find(({ tool }) => tool.status === 'requested' && tool.name === name);
  }

  #ended(event: Extract<AgentEvent, { kind: 'tool.end' }>): void {
    const entry = this.#byEventId.get(event.id);
    if (!entry) return;
    this.#close(entry, event.status, event.at);
    if (event.result !== undefined) entry.tool.result = event.result;
    if (event.error !== undefined) entry.tool.error = event.error;
  }

  #asked(call: string, at: number): void {
    const { output = [] } = this.#conversations.calls.get(call) ?? {};
    for (const part of this.#partsOf(output, 'tool_call') as CallPart[]) {
      const scope = this.#runOfCall.get(call);
      const entry: ToolInRun = {
        run: scope?.run,
        tool: {
          id: part.id ?? `${call}/${part.name}`,
          name: part.name,
          status: 'requested',
          arguments: part.arguments,
          requestedBy: call,
          startedAt: new Date(at).toISOString(),
        },
        startedAt: at,
        isOpen: true,
      };
      if (scope?.step !== undefined) entry.tool.stepId = scope.step;
      this.#tools.push(entry);
      if (part.id !== undefined) this.#byCallId.set(part.id, entry);
    }
  }

  #answered(call: string, at: number): void {
    const added = (this.#conversations.calls.get(call)?.added ?? []).filter((id) => !this.#seen.has(id));
    for (const id of added) this.#seen.add(id);
    for (const part of this.#partsOf(added, 'tool_call_response') as ResponsePart[]) {
      const entry =
        part.id === undefined
          ? this.#tools.find(({ isOpen, tool }) => isOpen && tool.name === part.name)
          : this.#byCallId.get(part.id);
      if (!entry) continue;
      // A call with a recorded start ends only with its own end event: a program may send a result for a tool that it has
      // abandoned.
      if (entry.isOpen && entry.tool.status === 'running') this.#answeredAt.set(entry, at);
      else if (entry.isOpen) this.#close(entry, part.isError ? 'failed' : 'finished', at);
      entry.tool.result ??= part.response;
    }
  }

  #close(entry: ToolInRun, status: ToolCallStatus, at: number): void {
    entry.isOpen = false;
    entry.tool.status = status;
    entry.tool.durationMs = at - entry.startedAt;
  }

  #partsOf(ids: readonly string[], type: MessagePart['type']): MessagePart[] {
    return ids.flatMap((id) => {
      const message: Message | undefined = this.#conversations.messages.get(id);
      return message ? message.parts.filter((part) => part?.type === type) : [];
    });
  }
}
