/**
 * The replayable data of a bundle: each model call with its request and its reply, the start of the clock, the environment as
 * far as it was recorded, and the signature of the death. One JSON document, redacted like the bundle. Bodies of model calls
 * are not recorded: replies are reconstructed from their contents.
 */
import { createHash } from 'node:crypto';
import {
  type Conversations,
  computeConversations,
  listMessages,
} from '../../analysis/agent/calls/conversations.ts';
import { readAgentEvents } from '../../analysis/agent/read.ts';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import type { BundleReader } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { AgentEvent, Message } from '../../journal/layout/agent.ts';
import type { Account, Signature } from '../../model/account.ts';
import { mayBeReplayed } from '../kept-environment.ts';
import type { RecordedReply } from '../replies/reply.ts';
import { findHttpGaps, type RecordedHttp, readHttp } from './recorded-http.ts';
import { readReplies } from './recorded-replies.ts';
import { readToolCalls, type ToolCalls } from './recorded-tools.ts';

export const recordingSchema = 'agentdump.recording/1';

export interface Recording {
  schema: typeof recordingSchema;
  /** Id of the bundle. */
  bundle: string;
  verdictKind: string;
  title: string;
  signature: Signature;
  argv: string[];
  nodeVersion: string;
  startedAtMs: number;
  /** Recorded variables, and the names of those that were withheld. */
  environment: Record<string, string>;
  withheld: string[];
  /** What the bundle lacks and a replay may need, as texts. */
  gaps: string[];
  /** Present if the death was caused by this signal, this long after the last event. The replay sends it too. */
  signal?: { name: NodeJS.Signals; afterMs: number };
  hosts: string[];
  /** Servers that received requests other than model calls, with recorded content or not. */
  askedHosts?: string[];
  messages: Record<string, Message>;
  calls: RecordedCall[];
  /** Steps and tool calls, each with the last model call whose reply came before it. */
  steps?: { id: string; name: string; after?: string }[];
  /** Other requests, if their content was recorded. */
  http: RecordedHttp[];
  /** By name. */
  tools: Record<string, ToolCalls>;
}

export interface RecordedCall {
  id: string;
  provider: string;
  model: string;
  /** The run, step or tool around it. */
  place: string[];
  system?: string;
  /** Ids of the request's messages in order. Before them there are `unknown` more whose contents are not known. */
  list: string[];
  unknown: number;
  /** The reply that can be sent, or the reason why there is none. */
  reply: RecordedReply | { refused: string };
}

/** Throws `usage` if the bundle contains nothing that could be answered. */
export async function readRecording(bundle: BundleReader): Promise<Recording> {
  const account = await analyzeBundle(bundle);
  const { events } = readAgentEvents(bundle);
  const { verdict, signature } = account;
  if (!verdict || !signature) throw unfit('the bundle has no verdict to reproduce');
  const all = events?.events ?? [];
  const conversations = computeConversations(all);
  const calls = readCalls(all, conversations);
  const http = readHttp(all);
  const signal = signalOf(bundle, account, events?.at ?? 0, all);
  return {
    schema: recordingSchema,
    bundle: account.bundle?.id ?? '',
    verdictKind: verdict.kind,
    title: verdict.title,
    signature,
    argv: account.process?.argv ?? [],
    nodeVersion: account.process?.nodeVersion ?? '',
    startedAtMs: Date.parse(account.process?.startedAt ?? account.bundle?.capturedAt ?? '') || 0,
    ...environmentOf(account),
    gaps: [
      ...(account.environment?.variables
        ? []
        : ['the bundle has no environment: set the variables that the program needs']),
      ...findHttpGaps(all, http),
    ],
    ...(signal && { signal }),
    hosts: hostsOf(all, http),
    askedHosts: askedHostsOf(all),
    messages: Object.fromEntries(conversations.messages),
    calls,
    steps: readSteps(all),
    http,
    tools: readToolCalls(all),
  };
}

/** The same number for the same recording. */
export function seedOf({ bundle }: Recording): number {
  return createHash('sha256').update(bundle).digest().readUInt32LE(0);
}

function readCalls(events: readonly AgentEvent[], conversations: Conversations): RecordedCall[] {
  const replies = readReplies(events);
  const places = placesOf(events);
  return events.flatMap((event): RecordedCall[] => {
    if (event.kind !== 'model.start') return [];
    const known = conversations.calls.get(event.call);
    const whole = listMessages(conversations, event.call);
    const { attributes, system, call } = event;
    return [
      {
        id: call,
        provider: String(attributes['gen_ai.provider.name'] ?? ''),
        model: String(attributes['gen_ai.request.model'] ?? ''),
        place: [event.run, event.step, event.tool].flatMap((id) => (id ? [id, places.get(id) ?? ''] : [])),
        ...(system && { system }),
        list: whole.slice(0, whole.length - (known?.output.length ?? 0)),
        unknown: event.conversation ? (known?.unknown ?? 0) : Number.POSITIVE_INFINITY,
        reply: replies.get(call) ?? { refused: 'nothing of its reply was recorded' },
      },
    ];
  });
}

function readSteps(events: readonly AgentEvent[]): NonNullable<Recording['steps']> {
  let after: string | undefined;
  return events.flatMap((event) => {
    if (event.kind === 'model.end') after = event.call;
    if (event.kind !== 'step.start' && event.kind !== 'tool.start') return [];
    const { id, name } = event;
    return [{ id, name, ...(after !== undefined && { after }) }];
  });
}

/** Names of runs, steps and tools by id. */
function placesOf(events: readonly AgentEvent[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const event of events) {
    if (event.kind === 'run.start') names.set(event.run, event.name);
    else if (event.kind === 'step.start' || event.kind === 'tool.start') names.set(event.id, event.name);
  }
  return names;
}

function hostsOf(events: readonly AgentEvent[], http: readonly RecordedHttp[]): string[] {
  const hosts = events.flatMap((event) => {
    if (event.kind !== 'model.start') return [];
    const { 'server.address': host, 'server.port': port } = event.attributes;
    return host === undefined ? [] : [port === undefined ? String(host) : `${host}:${port}`];
  });
  return [...new Set([...hosts, ...http.map(({ host }) => host)])];
}

function askedHostsOf(events: readonly AgentEvent[]): string[] {
  const hosts = events.flatMap((event) =>
    (event.kind === 'http.start' || event.kind === 'http.end') && event.host !== undefined
      ? [event.host]
      : [],
  );
  return [...new Set(hosts)];
}

/** A signal from outside is part of the input. */
function signalOf(bundle: BundleReader, account: Account, endedAt: number, events: readonly AgentEvent[]) {
  const trigger = bundle.readJson<TriggerPart>(partNames.trigger);
  if (account.verdict?.kind !== 'terminated' || !trigger?.signal) return undefined;
  const last = events.at(-1)?.at ?? endedAt;
  const afterMs = Math.max(0, (Date.parse(trigger.at) || endedAt) - last);
  return { name: trigger.signal.name as NodeJS.Signals, afterMs };
}

function environmentOf({ environment }: Account): Pick<Recording, 'environment' | 'withheld'> {
  const kept: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, entry] of Object.entries(environment?.variables ?? {})) {
    if (!mayBeReplayed(name)) continue;
    if ('value' in entry) kept[name] = entry.value;
    else withheld.push(name);
  }
  return { environment: kept, withheld };
}

export function unfit(message: string): AgentdumpError {
  return new AgentdumpError('usage', message, { argument: 'bundle' });
}
