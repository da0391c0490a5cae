/** What the kernel shows of another process, whether it responds or not. Source: proc(5). Never throws. */
import type { HandlesPart, ProcessPart, ThreadsPart } from '../../bundle/layout/bundle.ts';
import { findMemoryCgroup, readCgroupMemory } from '../../platform/cgroup.ts';
import { platform } from '../../platform/index.ts';

const mostDescriptors = 512;
const mostThreads = 256;

export function viewProcess(
  pid: number,
): Pick<ProcessPart, 'argv' | 'cwd' | 'execPath' | 'limits' | 'cgroup'> {
  const cgroup = findMemoryCgroup(pid);
  return {
    argv: (platform.processFile(pid, 'cmdline', 256 * 1024) ?? '').split('\0').slice(0, -1),
    cwd: platform.processLink(pid, 'cwd') ?? '',
    execPath: platform.processLink(pid, 'exe') ?? '',
    limits: platform.limits(pid),
    cgroup: cgroup === undefined ? {} : { path: cgroup, ...readCgroupMemory(cgroup) },
  };
}

/** The initial environment, unredacted. For looking up single names; must never be written. */
export function viewVariables(pid: number): Record<string, string> {
  const pairs = (platform.processFile(pid, 'environ', 2 * 1024 * 1024) ?? '').split('\0');
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

export function viewDescriptors(pid: number): Pick<HandlesPart, 'descriptors' | 'descriptorCount'> {
  const open = platform.openDescriptors(pid, mostDescriptors);
  return { descriptors: open?.listed ?? [], descriptorCount: open?.count ?? 0 };
}

/** `syscall`: number of the system call that the thread is in; `sp` and `pc` are only known then. */
export function viewThreads(pid: number): ThreadsPart['threads'] {
  return platform
    .processFolder(pid, 'task')
    .slice(0, mostThreads)
    .map((tid) => {
      const stat = platform.processFile(pid, `task/${tid}/stat`) ?? '';
      const name = /\((.*)\)/.exec(stat)?.[1] ?? '';
      const state = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0] ?? '?';
      const words = (platform.processFile(pid, `task/${tid}/syscall`) ?? '').trim().split(' ');
      const [sp, pc] = words.slice(-2);
      const inCall = /^\d+$/.test(words[0] ?? '');
      return {
        tid: Number(tid),
        name,
        state,
        ...(inCall && { syscall: words[0] as string }),
        ...(inCall && sp !== undefined && pc !== undefined && { sp, pc }),
      };
    });
}
