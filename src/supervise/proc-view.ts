/** What the kernel tells of another process, whether it answers or not. Source: proc(5). Never throws. */
import type { HandlesPart, ProcessPart, ThreadsPart } from '../bundle/layout.ts';
import { listFolder, readLink, readSmallFile } from '../capture/proc-files.ts';
import { findMemoryCgroup, readCgroupMemory } from '../journal/cgroup.ts';

const mostDescriptors = 512;
const mostThreads = 256;

export function viewProcess(
  pid: number,
): Pick<ProcessPart, 'argv' | 'cwd' | 'execPath' | 'limits' | 'cgroup'> {
  const cgroup = findMemoryCgroup(pid);
  return {
    argv: (readSmallFile(`/proc/${pid}/cmdline`, 256 * 1024) ?? '').split('\0').slice(0, -1),
    cwd: readLink(`/proc/${pid}/cwd`) ?? '',
    execPath: readLink(`/proc/${pid}/exe`) ?? '',
    limits: viewLimits(pid),
    cgroup: cgroup === undefined ? {} : { path: cgroup, ...readCgroupMemory(cgroup) },
  };
}

/** As it was started with, in the clear: for looking up single names, never to be written. */
export function viewVariables(pid: number): Record<string, string> {
  const pairs = (readSmallFile(`/proc/${pid}/environ`, 2 * 1024 * 1024) ?? '').split('\0');
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

function viewLimits(pid: number): ProcessPart['limits'] {
  const limits: ProcessPart['limits'] = {};
  for (const line of (readSmallFile(`/proc/${pid}/limits`) ?? '').split('\n').slice(1)) {
    const [, name, soft, hard] = /^(Max .+?)\s{2,}(\S+)\s+(\S+)/.exec(line) ?? [];
    if (name && soft && hard) limits[name] = { soft, hard };
  }
  return limits;
}

export function viewDescriptors(pid: number): Pick<HandlesPart, 'descriptors' | 'descriptorCount'> {
  const all = listFolder(`/proc/${pid}/fd`);
  const descriptors = all.slice(0, mostDescriptors).flatMap((fd) => {
    const target = readLink(`/proc/${pid}/fd/${fd}`);
    if (target === undefined) return [];
    const kind =
      /^(socket|pipe|anon_inode):/.exec(target)?.[1] ?? (target.startsWith('/dev/') ? 'device' : 'file');
    return [{ fd: Number(fd), kind, target }];
  });
  return { descriptors, descriptorCount: all.length };
}

/** `syscall`: number, arguments, stack pointer and program counter of a thread that sits in one. */
export function viewThreads(pid: number): ThreadsPart['threads'] {
  return listFolder(`/proc/${pid}/task`)
    .slice(0, mostThreads)
    .map((tid) => {
      const stat = readSmallFile(`/proc/${pid}/task/${tid}/stat`) ?? '';
      const name = /\((.*)\)/.exec(stat)?.[1] ?? '';
      const state = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0] ?? '?';
      const words = (readSmallFile(`/proc/${pid}/task/${tid}/syscall`) ?? '').trim().split(' ');
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
