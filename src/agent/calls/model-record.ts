/**
 * The events of one model call, from start to end. Streamed text is redacted before it is written; text that may turn out to
 * be part of a secret is held back until more has arrived (`held-text.ts`).
 */
import type {
  AgentEventData,
  Attributes,
  CallStatus,
  DeltaTool,
  EventError,
} from '../../journal/layout/agent.ts';
import { HeldText } from '../record/held-text.ts';
import type { AgentRecorder, InFlight } from '../record/recorder.ts';
import type { Writing } from '../record/sink.ts';
import type { Tapped } from '../record/tapped-calls.ts';
import { compact } from './json.ts';
import type { ModelRequest } from './model-call.ts';
import type { ReplyBuilder, ReplyDelta, TokenCounts } from './reply.ts';

const inFlightLimit = 1000;
const { now } = Date;

export interface CallEnd {
  status: CallStatus;
  bytes: number;
  frames: number;
  gap: string | undefined;
  error?: EventError;
  abortStack?: string;
  httpStatus: number | undefined;
}

/** The reply as far as it has been read. */
export interface ReplySource {
  readonly bytes: number;
  readonly frames: number;
  /** Reads what has arrived since the last call. */
  drain(): void;
}

export class ModelCallRecord implements InFlight {
  readonly #recorder: AgentRecorder;
  readonly #call: string;
  readonly #reply: ReplyBuilder;
  readonly #tapped: Tapped;
  readonly #hasContent: boolean;
  readonly #startedAt = now();
  #firstByteMs: number | undefined;
  #lastByteAt = 0;
  /** Something has arrived that is not written yet. */
  #isDue = false;
  #source: ReplySource | undefined;
  #writtenBytes = 0;
  #isEnded = false;
  #text: HeldText | undefined;
  #reasoning: HeldText | undefined;
  readonly #arguments = new Map<number, HeldText>();

  constructor(
    recorder: AgentRecorder,
    start: Partial<AgentEventData['model.start']> & { attributes: Attributes },
    request: ModelRequest | undefined,
    reply: ReplyBuilder,
  ) {
    this.#recorder = recorder;
    this.#reply = reply;
    this.#hasContent = recorder.level === 'content';
    this.#call = recorder.nextId('c');
    const readId = (): string | undefined => this.#readId();
    this.#tapped = recorder.tapped.begin(request?.model, {
      get id() {
        return readId();
      },
    });
    const { attributes, ...facts } = start;
    const content = request?.ids ? { attributes, ids: request.ids } : { attributes };
    const known = request && this.#hasContent ? this.#conversationFacts(request) : {};
    recorder.sink.record('model.start', { call: this.#call, ...facts, ...known }, content, 'soon');
    if (recorder.inFlight.size < inFlightLimit) recorder.inFlight.add(this);
  }

  answered(attributes: Attributes, source: ReplySource): void {
    this.#source = source;
    this.#recorder.sink.record(
      'model.headers',
      { call: this.#call, afterMs: now() - this.#startedAt },
      { attributes },
    );
  }

  /** More of the reply has arrived. */
  progressed(): void {
    this.#lastByteAt = now();
    if (this.#isDue) return;
    this.#isDue = true;
    this.#firstByteMs ??= this.#lastByteAt - this.#startedAt;
    this.#recorder.deltas.add(this);
  }

  /** Writes what has arrived since the last time. It reaches the disk with the next flush. */
  writeDelta(): void {
    this.#isDue = false;
    this.#writeDelta(false, 'ahead');
  }

  /** The process is about to die: writes everything that is known, including text that was held back. */
  flush(): void {
    if (!this.#isEnded) this.#writeDelta(true, 'now');
  }

  ended({ status, bytes, frames, gap, error, abortStack, httpStatus }: CallEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#source = undefined;
    this.#recorder.deltas.delete(this);
    this.#recorder.inFlight.delete(this);
    const reply = this.#reply;
    const messages = this.#hasContent ? reply.messages() : [];
    this.#tapped.reply = { id: reply.id };
    this.#recorder.asked = messages
      .flatMap(({ message }) => message.parts)
      .filter(({ type }) => type === 'tool_call').length;
    const output = this.#recorder.conversation.end(this.#call, reply.id, messages);
    const facts = { call: this.#call, status, tookMs: now() - this.#startedAt, bytes, frames, output };
    const content: Partial<AgentEventData['model.end']> = {
      attributes: endAttributes(reply, httpStatus, error ?? reply.error, gap),
    };
    const known = error ?? reply.error;
    if (known) {
      content.error = known;
      this.#recorder.failedWork.note(this.#call, known);
    }
    if (abortStack !== undefined) {
      content.abortStack = abortStack;
      this.#recorder.lastAbortStack = abortStack;
    }
    this.#recorder.sink.record(
      'model.end',
      this.#firstByteMs === undefined ? facts : { ...facts, firstByteMs: this.#firstByteMs },
      content,
    );
  }

  #conversationFacts(request: ModelRequest): Partial<AgentEventData['model.start']> {
    const { conversation } = this.#recorder;
    return compact({
      conversation: conversation.begin(this.#call, request),
      system: request.system && conversation.messageId(request.system),
      tools: request.tools === undefined ? undefined : conversation.toolsId(request.tools),
    }) as Partial<AgentEventData['model.start']>;
  }

  /** The span of a tracer may end before its reply was read. */
  #readId(): string | undefined {
    this.#source?.drain();
    return this.#reply.id;
  }

  #writeDelta(isLast: boolean, writing: Writing): void {
    const source = this.#source;
    if (this.#isEnded || !source) return;
    source.drain();
    const { bytes, frames } = source;
    const delta = this.#reply.takeDelta();
    const text = this.#hasContent ? this.#cleaned(delta, isLast) : {};
    if (bytes === this.#writtenBytes && !Object.keys(text).length) return;
    this.#writtenBytes = bytes;
    // The text is already redacted, so it is passed as facts instead of content.
    const facts = { call: this.#call, bytes, frames, lastByteAt: this.#lastByteAt, ...text };
    this.#recorder.sink.record('model.delta', facts, undefined, writing);
  }

  #cleaned(delta: ReplyDelta | undefined, isLast: boolean): Partial<AgentEventData['model.delta']> {
    const out: Partial<AgentEventData['model.delta']> = {};
    this.#text = this.#grown(this.#text, delta?.text);
    this.#reasoning = this.#grown(this.#reasoning, delta?.reasoning);
    const text = take(this.#text, delta?.text, isLast);
    const reasoning = take(this.#reasoning, delta?.reasoning, isLast);
    const tools = this.#cleanedTools(delta?.tools ?? [], isLast);
    if (text) out.text = text;
    if (reasoning) out.reasoning = reasoning;
    if (tools.length) out.tools = tools;
    return out;
  }

  #cleanedTools(tools: DeltaTool[], isLast: boolean): DeltaTool[] {
    const byIndex = new Map(tools.map((tool) => [tool.index, tool]));
    if (isLast)
      for (const index of this.#arguments.keys()) if (!byIndex.has(index)) byIndex.set(index, { index });
    return [...byIndex.values()].map((tool) => {
      const held = this.#grown(this.#arguments.get(tool.index), tool.arguments);
      if (held) this.#arguments.set(tool.index, held);
      const text = take(held, tool.arguments, isLast);
      const { sink } = this.#recorder;
      return compact({
        index: tool.index,
        id: tool.id && sink.cleanText(tool.id),
        name: tool.name && sink.cleanText(tool.name),
        arguments: text || undefined,
      }) as DeltaTool;
    });
  }

  #grown(held: HeldText | undefined, added: string | undefined): HeldText | undefined {
    return held ?? (added ? new HeldText((text) => this.#recorder.sink.cleanText(text)) : undefined);
  }
}

function take(held: HeldText | undefined, added: string | undefined, isLast: boolean): string {
  if (!held) return '';
  const safe = added ? held.push(added) : '';
  return isLast ? safe + held.end() : safe;
}

const usageNames: Record<keyof TokenCounts, string> = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read.input_tokens',
  cacheCreation: 'cache_creation.input_tokens',
  reasoning: 'reasoning.output_tokens',
};

function endAttributes(
  reply: ReplyBuilder,
  httpStatus: number | undefined,
  error: EventError | undefined,
  gap: string | undefined,
): Attributes {
  const attributes: Attributes = {
    'gen_ai.response.id': reply.id,
    'gen_ai.response.model': reply.model,
    'gen_ai.response.finish_reasons': reply.finishReasons.length ? reply.finishReasons : undefined,
    'http.response.status_code': httpStatus,
    'error.type': error && String(error.type ?? error.code ?? httpStatus ?? 'error'),
    'agentdump.reply.gap': gap,
  };
  for (const [name, count] of Object.entries(reply.usage))
    attributes[`gen_ai.usage.${usageNames[name as keyof TokenCounts]}`] = count;
  return compact(attributes);
}
