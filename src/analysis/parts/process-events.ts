/** `process-events.json`, field by field: events around the agent that did not end the process. */
import type { ChildFacts, ProcessEvents } from '../../model/account.ts';
import { defined, type Fields } from './fields.ts';

export function readProcessEvents(part: Fields): ProcessEvents {
  const parent = part.object('parent');
  const parentPid = parent?.number('pid');
  return defined({
    logs: distinctLogs(part.list('logs', readLog)),
    warnings: part.list('warnings', readWarning),
    handled: part.list('handled', (one) => readHandled(one, one.oneOf('kind', ['exception', 'rejection']))),
    children: part.list('children', readChild),
    connections: part.list('connections', readConnection),
    peaks: part.list('peaks', readPeak),
    parent:
      parent && parentPid !== undefined
        ? {
            pid: parentPid,
            ...defined({ recorderId: parent.text('recorderId'), bundle: readLink(parent.object('bundle')) }),
          }
        : undefined,
  });
}

/** pino's lines are left out if they are in the output of the program. */
export function distinctLogs<Logs extends ProcessEvents['logs']>(logs: Logs): Logs {
  const last = logs
    ?.find(({ stream }) => stream === 'pino')
    ?.text.trimEnd()
    .split('\n')
    .at(-1);
  if (last === undefined) return logs;
  const isRepeated = logs?.some(({ stream, text }) => stream !== 'pino' && text.includes(last));
  return logs?.filter(({ stream }) => stream !== 'pino' || !isRepeated) as Logs;
}

export function readLog(log: Fields): NonNullable<ProcessEvents['logs']>[number] | undefined {
  const stream = log.oneOf('stream', ['stdout', 'stderr', 'pino']);
  if (stream === undefined) return undefined;
  const { writtenAt, target } = { writtenAt: log.text('writtenAt'), target: log.text('target') };
  return { stream, text: log.text('text') ?? '', ...defined({ writtenAt, target }) };
}

export function readWarning(warning: Fields): NonNullable<ProcessEvents['warnings']>[number] | undefined {
  const message = warning.text('message');
  if (message === undefined) return undefined;
  const name = warning.text('name') ?? 'Warning';
  return { name, message, ...defined({ at: warning.text('at'), code: warning.textOrNumber('code') }) };
}

export function readHandled(
  error: Fields,
  kind: 'exception' | 'rejection' | undefined,
): NonNullable<ProcessEvents['handled']>[number] | undefined {
  const message = error.text('message');
  if (message === undefined || kind === undefined) return undefined;
  return {
    kind,
    message,
    ...defined({ at: error.text('at'), name: error.text('name'), code: error.textOrNumber('code') }),
  };
}

export function readPeak(peak: Fields): NonNullable<ProcessEvents['peaks']>[number] | undefined {
  const { resource, value } = { resource: peak.text('resource'), value: peak.number('value') };
  if (resource === undefined || value === undefined) return undefined;
  return { resource, value, ...defined({ at: peak.text('at'), limit: peak.number('limit') }) };
}

export function readChild(child: Fields): ChildFacts | undefined {
  const pid = child.number('pid');
  if (pid === undefined) return undefined;
  return {
    pid,
    command: child.text('command') ?? '',
    ...defined({
      startedAt: child.text('startedAt'),
      endedAt: child.text('endedAt'),
      exitCode: child.number('exitCode'),
      signal: child.text('signal'),
      stderrTail: child.text('stderrTail'),
      error: child.text('error'),
      bundle: readLink(child.object('bundle')),
    }),
  };
}

function readConnection(failed: Fields): NonNullable<ProcessEvents['connections']>[number] | undefined {
  const { what, message } = { what: failed.text('what'), message: failed.text('message') };
  if (what === undefined || message === undefined) return undefined;
  const first = failed
    .text('stack')
    ?.split('\n')
    .find((line) => !/[( ]node:/.test(line));
  const [, by] = /.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(first ?? '') ?? [];
  const times = failed.number('times') ?? 1;
  return { what, message, times, ...defined({ lastBegunAt: failed.text('lastBegunAt'), by }) };
}

function readLink(link: Fields | undefined): ChildFacts['bundle'] {
  const { id, name } = { id: link?.text('id'), name: link?.text('name') };
  return id === undefined || name === undefined ? undefined : { id, name };
}
