/**
 * Model calls at the end of a run that did not go as requested: refused, cut off, or ended by a filter or limit of the
 * provider. Consecutive calls that failed the same way are one sentence with the number of attempts.
 */

import type { Account } from '../../model/account.ts';
import type { AgentAbort, AgentRun, ModelCall } from '../../model/agent-state.ts';
import { abortCaller } from '../../model/errors/abort-text.ts';
import { modelName } from '../../model/model-call-text.ts';
import { formatCount } from '../../model/quantities.ts';
import { errorText } from '../agent/failures/failure-input.ts';
import type { DyingWork, Whose } from '../agent/whose-work.ts';
import type { Told } from './told.ts';

/** Only this many calls at the end of a run are examined. */
const lastCalls = 12;
/** Finish reasons with which the provider ended the reply itself, so that it is shorter than requested, or empty. */
const endedEarly =
  /^(?:safety|content[_-]?filter|recitation|prohibited_content|blocklist|spii|image_safety|refusal|language|malformed_function_call|model_context_window_exceeded|max_tokens|max_output_tokens|length|error)$/i;

export function findTroubledCalls(run: AgentRun, account: Account, dying: DyingWork): Told[] {
  const { endedAt = '', failures = [], aborts = [] } = account.agent ?? {};
  const causes = new Set(failures.filter(({ isCauseOfDeath }) => isCauseOfDeath).map(({ callId }) => callId));
  return inRows(run, dying).flatMap(({ group, whose, origins, isAnsweredLater }) => {
    const last = group.calls.at(-1) as ModelCall;
    if (causes.has(last.id)) return [];
    const beforeEndMs =
      Date.parse(endedAt) - Date.parse(last.startedAt ?? '') - (last.durationMs ?? Number.NaN);
    const attempts = `${attemptText(group.calls)}${abortText(last, aborts, account.process?.cwd)}`;
    const later = isAnsweredLater ? '; a later call was answered' : '';
    const more = origins > 1 ? `; the same happened for ${origins - 1} more` : later;
    return {
      ...(beforeEndMs >= 0 && { beforeEndMs }),
      fact: `${group.fact(last)}${attempts}${dying.textFor(whose, run)}${more}`,
      part: 'agent-events.json',
      whose,
    };
  });
}

interface Row {
  group: Group;
  whose: Whose;
  /** The number of other requests or tests with such calls; the row describes the newest one. */
  origins: number;
  /** A later call of the same one succeeded. */
  isAnsweredLater: boolean;
}

/** Calls are grouped within each request or test, because those of several interleave. Similar ones of others share a row. */
function inRows(run: AgentRun, dying: DyingWork): Row[] {
  const rows = new Map<string, Omit<Row, 'origins'> & { origins: Set<string | undefined> }>();
  for (const [origin, all] of byOrigin(run.modelCalls)) {
    const calls = all.slice(-lastCalls);
    const answered = calls.findLastIndex(({ status }) => status === 'finished');
    for (const group of inGroups(calls)) {
      const [first] = group.calls;
      const whose = dying.whose(first ?? {}, run);
      const isOther = whose === 'others' && origin !== undefined;
      const key = isOther ? group.key : `${origin} ${first?.id}`;
      const { origins = new Set<string | undefined>() } = rows.get(key) ?? {};
      const isAnsweredLater = calls.indexOf(group.calls.at(-1) as ModelCall) < answered;
      rows.set(key, { group, whose, isAnsweredLater, origins: origins.add(origin) });
    }
  }
  return [...rows.values()].map(({ origins, ...row }) => ({ ...row, origins: origins.size }));
}

/** In the order of their first calls. */
function byOrigin(calls: readonly ModelCall[]): Map<string | undefined, ModelCall[]> {
  const found = new Map<string | undefined, ModelCall[]>();
  for (const call of calls) {
    const origin = call.serverRequest ?? call.test;
    const known = found.get(origin);
    if (known) known.push(call);
    else found.set(origin, [call]);
  }
  return found;
}

interface Group {
  key: string;
  calls: ModelCall[];
  fact: (last: ModelCall) => string;
}

function inGroups(calls: readonly ModelCall[]): Group[] {
  const groups: Group[] = [];
  let isInRow = false;
  for (const call of calls) {
    const found = troubleOf(call);
    const last = groups.at(-1);
    if (found && isInRow && last?.key === found.key) last.calls.push(call);
    else if (found) groups.push({ ...found, calls: [call] });
    isInRow = found !== undefined;
  }
  return groups;
}

function troubleOf(call: ModelCall): Omit<Group, 'calls'> | undefined {
  const reason = call.finishReasons?.find((one) => endedEarly.test(one));
  if (call.status === 'failed')
    return {
      key: `failed ${call.httpStatus} ${call.error?.type ?? call.error?.code} ${call.model}`,
      fact: (last) => `${nameOf(last)} ${failureText(last)}`,
    };
  if (call.status === 'cut' || call.status === 'aborted')
    return {
      key: `${call.status} ${call.model}`,
      fact: (last) => `${nameOf(last)} was ${endText(last)}`,
    };
  if (reason === undefined) return undefined;
  return {
    key: `reason ${reason} ${call.model}`,
    fact: (last) => `The reply of ${nameOf(last, 'm')} ended with finish reason ${reason}`,
  };
}

function endText({ status, bytes = 0 }: ModelCall): string {
  if (status === 'cut') return 'cut off in its reply';
  return bytes > 0 ? 'aborted in its reply' : 'aborted before its reply began';
}

/** Who aborted the call, and the program's reason if it gave one. */
function abortText(
  { id, status, error }: ModelCall,
  aborts: readonly AgentAbort[],
  cwd: string | undefined,
): string {
  if (status !== 'aborted') return '';
  const seen = aborts.find(({ callId }) => callId !== undefined && callId === id);
  const isTimeout = error?.type === 'TimeoutError';
  const who = (seen && abortCaller(seen, cwd)?.who) ?? (isTimeout ? 'a time limit' : undefined);
  const reason = isTimeout || error?.type === 'AbortError' ? '' : ` (${errorText(error)})`;
  return `${who === undefined ? '' : ` by ${who}`}${error ? reason : ''}`;
}

function nameOf(call: ModelCall, first: 'M' | 'm' = 'M'): string {
  return `${first}odel call ${call.id} to ${modelName(call)}`;
}

function failureText({ httpStatus, error, retryAfter, path, server, notSent }: ModelCall): string {
  const after = retryAfter === undefined ? '' : ` with Retry-After ${retryAfter}`;
  const where = httpStatus === 404 && path !== undefined ? ` for ${server ?? ''}${path}` : '';
  if (notSent) return `failed before a request was sent: ${errorText(error)}`;
  if (httpStatus === undefined) return `got no answer: ${errorText(error)}`;
  const said = error ? ` (${errorText(error)})` : '';
  return `was answered ${httpStatus}${after}${where}${said}`;
}

function attemptText(calls: readonly ModelCall[]): string {
  if (calls.length > 1) return `, ${formatCount(calls.length, 'time')} in a row`;
  const count = calls.at(-1)?.resendCount;
  return count === undefined ? '' : `, at attempt ${count + 1}`;
}
