/**
 * Finds loops: the same call repeated with the same arguments and result, two to four calls that alternate, or a call that
 * always fails the same way. A different result is not a repetition, because something changed. Loops are found anywhere in a
 * run, since one may have ended before the process did.
 */

import type { AgentLoop, AgentRun, ModelCall, ToolCall } from '../../../model/agent-state.ts';
import { modelName } from '../../../model/model-call-text.ts';
import { clip, formatCount, formatDuration, formatNumber } from '../../../model/quantities.ts';

interface Turn {
  /** Compared for equality. */
  key: string;
  /** Its outcome was not seen. */
  isOpen: boolean;
  text: string;
  at: number;
}

const leastTimes = { 1: 4, 2: 3, 3: 3, 4: 3 } as const;
const leastErrors = 3;
const mostLoops = 5;

export function findLoops(runs: readonly AgentRun[]): AgentLoop[] {
  return runs
    .flatMap((run) => [...findCallLoops(run), ...findErrorLoops(run)])
    .sort((a, b) => Number(b.ongoing) - Number(a.ongoing) || b.times - a.times)
    .slice(0, mostLoops);
}

function findCallLoops(run: AgentRun): AgentLoop[] {
  const turns = run.toolCalls.filter(isComparable).map(turnOf);
  const [best] = [1, 2, 3, 4]
    .flatMap((length) => longestRepeat(turns, length as 1 | 2 | 3 | 4) ?? [])
    .sort((a, b) => b.times * b.length - a.times * a.length || a.length - b.length);
  if (!best) return [];
  const { start, length, times } = best;
  const one = turns.slice(start, start + length);
  const failed = run.toolCalls.filter(isComparable)[start]?.error !== undefined;
  const kind =
    length === 1 ? (failed ? 'error-repeat' : 'exact-repeat') : length === 2 ? 'ping-pong' : 'circle';
  return [describe(run, kind, one, turns.slice(start, start + length * times), turns, times)];
}

/** Calls without recorded content can't be compared. */
function isComparable({ arguments: given, result, error }: ToolCall): boolean {
  return given !== undefined || result !== undefined || error !== undefined;
}

function turnOf(call: ToolCall): Turn {
  const given = textOf(call.arguments);
  // The last call may still be running, and then has no outcome.
  const outcome = call.ageMs === undefined ? textOf([call.status, call.result, call.error]) : '';
  return {
    key: `${call.name}\n${given}\n${outcome}`,
    isOpen: call.ageMs !== undefined,
    text: `${call.name}(${clip(given, 60)})`,
    at: Date.parse(call.startedAt ?? ''),
  };
}

interface Repeat {
  start: number;
  length: number;
  times: number;
}

/** The longest stretch in which `length` calls repeat unchanged. */
function longestRepeat(turns: readonly Turn[], length: 1 | 2 | 3 | 4): Repeat | undefined {
  let best: Repeat | undefined;
  let same = 0;
  for (let i = length; i < turns.length; i++) {
    same = isSame(turns[i], turns[i - length]) ? same + 1 : 0;
    const times = Math.floor(same / length) + 1;
    const start = i - same - length + 1;
    if (times >= leastTimes[length] && times > (best?.times ?? 0) && isOneTurn(turns, start, length))
      best = { start, length, times };
  }
  return best;
}

/** A running call equals any call with the same name and arguments. */
function isSame(a: Turn | undefined, b: Turn | undefined): boolean {
  if (!a || !b) return false;
  return a.key === b.key || (a.key.endsWith('\n') && b.key.startsWith(a.key));
}

/** Not itself a repetition of something shorter. */
function isOneTurn(turns: readonly Turn[], start: number, length: number): boolean {
  const keys = turns.slice(start, start + length).map(({ key }) => key);
  return new Set(keys).size === length || length === 1;
}

/** Consecutive model calls that failed the same way. The attempts of a client for one call are no loop of the agent. */
function findErrorLoops(run: AgentRun): AgentLoop[] {
  const turns = run.modelCalls.filter(isLastAttempt).map(errorTurn);
  let [start, best] = [0, { start: 0, times: 0 }];
  for (let i = 0; i < turns.length; i++) {
    if (turns[i]?.key === '' || turns[i]?.key !== turns[start]?.key) start = i;
    if (turns[i]?.key !== '' && i - start + 1 > best.times) best = { start, times: i - start + 1 };
  }
  if (best.times < leastErrors) return [];
  const part = turns.slice(best.start, best.start + best.times);
  return [describe(run, 'error-repeat', part.slice(0, 1), part, turns, best.times)];
}

function isLastAttempt({ resendCount = 0 }: ModelCall, at: number, calls: readonly ModelCall[]): boolean {
  return calls[at + 1]?.resendCount !== resendCount + 1;
}

function errorTurn(call: ModelCall): Turn {
  const { error, httpStatus, startedAt } = call;
  const failed = error !== undefined || (httpStatus ?? 0) >= 400;
  const what = [httpStatus, error?.type ?? error?.code, clip(error?.message ?? '', 80)]
    .filter(Boolean)
    .join(' ');
  const to = `model call to ${modelName(call)}`;
  return {
    key: failed ? `${to}\n${what}` : '',
    isOpen: false,
    text: `${to}, which failed${what && `: ${what}`}`,
    at: Date.parse(startedAt ?? ''),
  };
}

function describe(
  run: AgentRun,
  kind: AgentLoop['kind'],
  one: readonly Turn[],
  part: readonly Turn[],
  all: readonly Turn[],
  times: number,
): AgentLoop {
  const [from, to] = [part[0]?.at ?? Number.NaN, part.at(-1)?.at ?? Number.NaN];
  const ongoing = all.length - all.indexOf(part.at(-1) as Turn) <= one.length;
  const tokens = tokensBetween(run, from, to);
  const lastedMs = to - from;
  const calls = one.map(({ text }) => text);
  return {
    kind,
    runId: run.id,
    calls,
    times,
    ongoing,
    ...(Number.isNaN(lastedMs) ? {} : { startedAt: new Date(from).toISOString(), lastedMs }),
    ...(tokens > 0 && { tokens }),
    sentence: sentenceOf(kind, calls, {
      times,
      ongoing,
      lastedMs,
      tokens,
      hasOpen: part.some(({ isOpen }) => isOpen),
    }),
  };
}

interface Said {
  times: number;
  ongoing: boolean;
  lastedMs: number;
  tokens: number;
  /** The outcome of some was not seen. */
  hasOpen: boolean;
}

function sentenceOf(
  kind: AgentLoop['kind'],
  calls: readonly string[],
  { times, ongoing, lastedMs, tokens, hasOpen }: Said,
): string {
  const result = hasOpen ? 'the same result as far as it was seen' : 'the same result';
  const what = {
    'exact-repeat': `${calls[0]} came ${formatNumber(times)} times with ${result}`,
    'error-repeat': `${calls[0]}: ${formatNumber(times)} times in a row${calls[0]?.includes('failed') ? '' : ' with the same error'}`,
    'ping-pong': `${calls.join(' and ')} took turns ${formatNumber(times)} times, each with ${result}`,
    circle: `${calls.join(', ')} came in a circle ${formatNumber(times)} times, each with ${result}`,
  }[kind];
  const within = lastedMs >= 1 ? ` within ${formatDuration(lastedMs)}` : '';
  const spent = tokens > 0 ? `, for ${formatCount(tokens, 'token')}` : '';
  return `${what}${within}${spent}${ongoing ? ', and no other call came after' : ''}`;
}

function tokensBetween({ modelCalls }: AgentRun, from: number, to: number): number {
  let tokens = 0;
  for (const { startedAt, inputTokens = 0, outputTokens = 0 } of modelCalls) {
    const at = Date.parse(startedAt ?? '');
    if (at >= from && at <= to) tokens += inputTokens + outputTokens;
  }
  return tokens;
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
