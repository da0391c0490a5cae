/**
 * What failed before the end without being proven to be its cause: model calls, tools, other requests, errors that the
 * program handled or logged. Each sentence states what was observed and how long before the end; repetitions are merged. First
 * what the request or run that died did itself, last what others did, marked as such; within each group the newest first.
 */
import type { Account, ProcessEvents } from '../../model/account.ts';
import type { AgentRun, FailedRequest, McpServer, ToolCall } from '../../model/agent-state.ts';
import { foldCommand, withoutFolders } from '../../model/command-text.ts';
import { onOneLine, shorten } from '../../model/errors/message-text.ts';
import { firstLine, formatCount, formatDuration } from '../../model/quantities.ts';
import type { Evidence } from '../../model/verdict.ts';
import { errorText, isInError } from '../agent/failures/failure-input.ts';
import { DyingWork, whoseOrder } from '../agent/whose-work.ts';
import type { TriggerFacts } from '../parts/trigger.ts';
import { findFailedConnections } from './failed-connections.ts';
import { findLoggedErrors, findPrintedErrors } from './logged-errors.ts';
import { findTroubledCalls } from './model-calls.ts';
import type { Told } from './told.ts';

const mostTold = 6;
const mostOfOthers = 2;
/** The process keeps at most this many handled errors. */
const mostKept = 40;
const agentPart = 'agent-events.json';

/** Without facts that are already in the verdict's evidence. */
export function findBeforeEnd(account: Account, trigger?: TriggerFacts): Evidence[] {
  const { agent, happenings } = account;
  const dying = new DyingWork(account);
  const told: Told[] = [
    ...(agent?.runs ?? []).flatMap((run) => [
      ...findTroubledCalls(run, account, dying),
      ...failedTools(run, account, dying),
    ]),
    ...(agent?.failedRequests ?? []).map((failed) => requestFact(failed, dying)),
    ...(agent?.servers ?? []).flatMap(unreadableLines),
    ...handledErrors(happenings, account, trigger),
    ...findFailedConnections(account),
  ];
  const logged = findLoggedErrors(account);
  told.push(...logged, ...findPrintedErrors(account, [...told, ...logged], trigger));
  const inOrder = told.sort(
    (a, b) => rankOf(a) - rankOf(b) || (a.beforeEndMs ?? Infinity) - (b.beforeEndMs ?? Infinity),
  );
  const [others, rest] = [inOrder.filter(isOfOthers), inOrder.filter((one) => !isOfOthers(one))];
  return [...rest, ...others.slice(0, mostOfOthers)]
    .slice(0, mostTold)
    .map(({ fact, beforeEndMs, part }) => ({ fact: `${fact}${whenText(beforeEndMs)}.`, part }));
}

const rankOf = ({ whose = 'unknown' }: Told): number => whoseOrder.indexOf(whose);
const isOfOthers = ({ whose }: Told): boolean => whose === 'others';

function whenText(beforeEndMs: number | undefined): string {
  return beforeEndMs === undefined ? '' : `, ${formatDuration(Math.max(0, beforeEndMs))} before the end`;
}

/** A tool whose error ended the process is the cause, and reported as such. One that a later try made good ended nothing. */
function failedTools(run: AgentRun, { agent }: Account, dying: DyingWork): Told[] {
  const causes = new Set(
    agent?.failures?.filter(({ isCauseOfDeath }) => isCauseOfDeath).map(({ callId }) => callId),
  );
  const lastSuccess = lastSuccesses(run.toolCalls);
  const failed = run.toolCalls.filter(
    (tool) =>
      tool.status === 'failed' &&
      !causes.has(tool.id) &&
      !((lastSuccess.get(purposeOf(tool)) ?? 0) >= endOf(tool)),
  );
  return whoseOrder.flatMap((whose) =>
    failed
      .filter((tool) => dying.whose(tool, run) === whose)
      .slice(-2)
      .map((tool) => {
        const beforeEndMs = Date.parse(agent?.endedAt ?? '') - endOf(tool);
        const said = messageOf(tool);
        const why = said ? `: ${shorten(onOneLine(said).replace(/\.$/, ''), 160)}` : '';
        return {
          ...(beforeEndMs >= 0 && { beforeEndMs }),
          fact: `Tool ${tool.name} (${tool.id}) failed${why}${dying.textFor(whose, run)}`,
          part: agentPart,
          whose,
        };
      }),
  );
}

/** When the last call that ended well had begun, for each tool and whom it worked for. Tools that ran beside a failed one are no try of it. */
function lastSuccesses(tools: readonly ToolCall[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const tool of tools) {
    const startedAt = Date.parse(tool.startedAt ?? '');
    const known = last.get(purposeOf(tool)) ?? 0;
    if (tool.status === 'finished' && startedAt > known) last.set(purposeOf(tool), startedAt);
  }
  return last;
}

const purposeOf = ({ name, serverRequest, test }: ToolCall): string =>
  JSON.stringify([name, serverRequest ?? test]);
const endOf = ({ startedAt = '', durationMs = 0 }: ToolCall): number => Date.parse(startedAt) + durationMs;

function messageOf({ error, result }: ToolCall): string | undefined {
  const said = error ?? result;
  if (typeof said === 'string') return said;
  const message = (said as { message?: unknown } | undefined)?.message;
  return typeof message === 'string' ? message : undefined;
}

function requestFact(failed: FailedRequest, dying: DyingWork): Told {
  const { method, host, httpStatus, error, times, madeFor: whose = 'unknown', others, beforeEndMs } = failed;
  const how = httpStatus !== undefined && httpStatus >= 400 ? `was answered ${httpStatus}` : 'failed';
  const why = error ? ` (${errorText(error)})` : '';
  const often = times > 1 ? `, ${formatCount(times, 'time')}` : '';
  const made = dying.textFor(whose, undefined, others);
  return {
    beforeEndMs,
    fact: `Request ${method} ${host} ${how}${why}${often}${made}`,
    part: agentPart,
    whose,
  };
}

/** A server that logs to its output breaks its answers. */
function unreadableLines({ id, command, unreadable }: McpServer): Told[] {
  if (!unreadable) return [];
  const { line, times, beforeEndMs } = unreadable;
  const name = command === undefined ? id : `${id} (${foldCommand(withoutFolders(command), 80)})`;
  const wrote = times > 1 ? `${times} lines that are no messages, the last` : 'a line that is no message';
  return [
    {
      beforeEndMs,
      part: agentPart,
      fact: `MCP server ${name} wrote ${wrote}: ${shorten(firstLine(line), 160)}`,
    },
  ];
}

/** Repetitions of one error are merged into one sentence. */
function handledErrors(
  events: ProcessEvents | undefined,
  account: Account,
  trigger: TriggerFacts | undefined,
): Told[] {
  const endedAt = Date.parse(account.bundle?.capturedAt ?? '');
  const rows = new Map<string, Told & { times: number }>();
  const handler = trigger?.thrownBy?.handler;
  // What a handler was given that threw is told with what it threw.
  const isOld = handler === undefined || handler === 'uncaughtExceptionMonitor';
  const handled = events?.handled?.slice(0, isOld ? undefined : -1) ?? [];
  for (const { kind, name, message, code, at } of handled) {
    // The death itself is recorded as handled too if the program has a handler.
    if (message === account.error?.message || isInError(account.error, message)) continue;
    const coded = code !== undefined && !message.includes(String(code)) ? ` [${code}]` : '';
    const said = shorten(`${name ?? 'Error'}${coded}: ${onOneLine(message)}`, 200);
    const beforeEndMs = endedAt - Date.parse(at ?? '');
    const times = (rows.get(said)?.times ?? 0) + 1;
    const fact = `A handler received an ${kind === 'rejection' ? 'unhandled rejection' : 'uncaught exception'}: ${said}`;
    rows.set(said, { times, fact, part: 'process-events.json', ...(beforeEndMs >= 0 && { beforeEndMs }) });
  }
  return [...rows.values()].map(({ times, fact, ...told }) => ({
    ...told,
    fact: times > 1 ? `${fact}, ${formatCount(times, 'time')}${times >= mostKept ? ' at least' : ''}` : fact,
  }));
}
