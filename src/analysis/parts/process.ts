/** `process.json` and `threads.json`, field by field. */
import type { ProcessPart, ThreadsPart } from '../../bundle/layout/bundle.ts';
import { asNumber, asText, defined, type Fields } from './fields.ts';

export type ProcessPartFacts = Partial<ProcessPart>;

export function readProcess(part: Fields): ProcessPartFacts {
  return defined({
    pid: part.number('pid'),
    parentPid: part.number('parentPid'),
    title: part.text('title'),
    argv: part.texts('argv'),
    execArgv: part.texts('execArgv'),
    execPath: part.text('execPath'),
    cwd: part.text('cwd'),
    versions: part.record('versions', asText),
    platform: part.text('platform'),
    arch: part.text('arch'),
    startedAt: part.text('startedAt'),
    uptimeMs: part.number('uptimeMs'),
    threadId: part.number('threadId'),
    resourceUsage: part.record('resourceUsage', asNumber),
    limits: part.objects('limits', (limit) => {
      const soft = limit.textOrNumber('soft');
      const hard = limit.textOrNumber('hard');
      return soft === undefined ? undefined : { soft, hard: hard ?? soft };
    }),
    cgroup: part.record('cgroup', (value) => asText(value) ?? asNumber(value)),
    container: part.text('container'),
    workers: part.list('workers', (worker) => {
      const threadId = worker.number('threadId');
      return threadId === undefined ? undefined : { threadId, ...defined({ name: worker.text('name') }) };
    }),
  });
}

export function readThreads(part: Fields): ThreadsPart['threads'] {
  return (
    part.list('threads', (thread) => {
      const tid = thread.number('tid');
      if (tid === undefined) return undefined;
      return {
        tid,
        name: thread.text('name') ?? '',
        state: thread.text('state') ?? '',
        ...defined({
          syscall: thread.text('syscall'),
          sp: thread.text('sp'),
          pc: thread.text('pc'),
          cpuMs: thread.number('cpuMs'),
        }),
      };
    }) ?? []
  );
}
