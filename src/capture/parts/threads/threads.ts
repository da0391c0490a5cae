/**
 * `threads.json`: the operating system's view of every thread. For a thread in a system call proc(5) has its number, stack
 * pointer and program counter; for a running one only `running`.
 */
import { partNames, type ThreadsPart } from '../../../bundle/layout/bundle.ts';
import { notAvailable, platform } from '../../../platform/index.ts';
import type { PartProducer } from '../part.ts';

const maxThreads = 256;

export const threadsPart: PartProducer = {
  name: partNames.threads,
  hasOwnFigures: true,
  produce(context): ThreadsPart | undefined {
    const tids = platform.processFolder('self', 'task');
    if (tids.length === 0) {
      context.addGap(partNames.threads, notAvailable('threads as the system sees them'));
      return undefined;
    }
    if (tids.length > maxThreads)
      context.addGap(partNames.threads, `${tids.length} threads; ${maxThreads} are listed`);
    return {
      threads: tids
        .slice(0, maxThreads)
        .flatMap((tid) => nameOurs(describeThread(tid), context.watchdogThread) ?? []),
    };
  },
};

type ThreadRow = ThreadsPart['threads'][number];

function nameOurs(row: ThreadRow | undefined, watchdogThread: number | undefined): ThreadRow | undefined {
  return row && row.tid === watchdogThread ? { ...row, name: 'agentdump watchdog' } : row;
}

/** One thread of this process; undefined if it has just ended. */
export function describeThread(tid: string): ThreadRow | undefined {
  const stat = platform.processFile('self', `task/${tid}/stat`);
  // The name is in parentheses and may contain anything, parentheses and spaces included.
  const match = /^\d+ \((.*)\) (\S) (.*)$/s.exec(stat ?? '');
  if (!match) return undefined;
  const [, name = '', state = '', rest = ''] = match;
  const fields = rest.split(' ');
  const ticks = Number(fields[10]) + Number(fields[11]);
  const row: ThreadRow = { tid: Number(tid), name, state, cpuMs: ticks * 10 };
  const call = (platform.processFile('self', `task/${tid}/syscall`) ?? '').trim().split(' ');
  if (call.length >= 3) {
    row.syscall = call[0] ?? '';
    row.sp = call.at(-2) ?? '';
    row.pc = call.at(-1) ?? '';
  }
  return row;
}
