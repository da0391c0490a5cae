/** Linux: proc(5). If /proc is hidden (jail, sandbox), results are those of systems without it. */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Limits, Pid, Platform } from '../interface.ts';
import { listFolder, readLink, readSmallFile } from '../small-file.ts';
import { hasThreadRoom } from '../thread-room.ts';
import { nodeOnly, signalNamed } from './node-only.ts';
import { posixFiles, throughLink } from './posix-files.ts';
import { readProcStat } from './proc-files.ts';

/** The kernel's USER_HZ on every Linux that Node supports. */
const ticksPerSecond = 100;

const processFile = (pid: Pid, name: string, maxBytes?: number): string | undefined =>
  readSmallFile(`/proc/${pid}/${name}`, maxBytes);
/** Since the start of the system, as the start times of processes are counted. */
const upSeconds = (): number =>
  Number.parseFloat(kernelFile('uptime') ?? '') || process.getBuiltinModule('node:os').uptime();
const kernelFile = (name: string): string | undefined => readSmallFile(`/proc/${name}`)?.trim();
const startToken = (pid: Pid): string | undefined => readProcStat(pid)?.[19];

export const linux: Platform = {
  ...nodeOnly,
  name: 'linux',
  title: 'Linux',
  hasProcessFiles: true,
  groupMount: '/sys/fs/cgroup',
  kernelLog: '/dev/kmsg',

  processFile,
  processFolder: (pid, name) => listFolder(`/proc/${pid}/${name}`),
  processLink: (pid, name) => readLink(`/proc/${pid}/${name}`),
  processPath: (pid, name) => `/proc/${pid}/${name}`,
  processStat: readProcStat,
  kernelFile,
  // Without a display, xdg-open would start a text-mode browser in the current terminal.
  opener: (path) =>
    process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']
      ? { file: 'xdg-open', words: [path] }
      : undefined,

  processes: () =>
    listFolder('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      const [state, parent] = readProcStat(Number(name)) ?? [];
      if (state === undefined || state === 'Z' || state === 'X') return [];
      const program = basename(readLink(`/proc/${name}/exe`) ?? '');
      return [{ pid: Number(name), parentPid: Number(parent), program }];
    }),
  startToken,
  startedAtMs(pid) {
    const ticks = startToken(pid);
    if (ticks === undefined) return undefined;
    const upMs = upSeconds() * 1000;
    return Date.now() - upMs + (Number(ticks) / ticksPerSecond) * 1000;
  },
  /** The last field of `stat` is the status that wait(2) would return. */
  unreapedEnd(pid) {
    const fields = readProcStat(pid);
    const status = Number(fields?.at(-1));
    if (fields?.[0] !== 'Z' || !Number.isInteger(status)) return undefined;
    const signal = status & 0x7f;
    return signal === 0
      ? { exitCode: (status >> 8) & 0xff, signal: null }
      : { exitCode: null, signal: signalNamed(signal) };
  },
  bootId: () => kernelFile('sys/kernel/random/boot_id'),
  hostName: () => kernelFile('sys/kernel/hostname') ?? nodeOnly.hostName(),
  pidNamespace: (pid) => readLink(`/proc/${pid}/ns/pid`),

  /** In some Node versions os.freemem excludes caches. */
  availableBytes() {
    const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(kernelFile('meminfo') ?? '')?.[1];
    return kilobytes === undefined ? nodeOnly.availableBytes() : Number(kilobytes) * 1024;
  },
  limits(pid) {
    const text = processFile(pid, 'limits');
    if (text === undefined) return nodeOnly.limits(pid);
    const limits: Limits = {};
    for (const line of text.split('\n').slice(1)) {
      const [, name, soft, hard] = /^(Max .+?)\s{2,}(\S+)\s+(\S+)/.exec(line) ?? [];
      if (name && soft && hard) limits[name] = { soft, hard };
    }
    return limits;
  },
  ownThreadId: () => Number(readLink('/proc/thread-self')?.split('/').pop() ?? 0),
  mayStartThread: () => hasThreadRoom(linux.groupMount ?? ''),
  openDescriptors(pid, most) {
    let all: string[];
    try {
      all = readdirSync(`/proc/${pid}/fd`);
    } catch {
      return undefined;
    }
    const listed = all.slice(0, most).flatMap((fd) => {
      const target = readLink(`/proc/${pid}/fd/${fd}`);
      if (target === undefined) return [];
      const kind =
        /^(socket|pipe|anon_inode):/.exec(target)?.[1] ?? (target.startsWith('/dev/') ? 'device' : 'file');
      return [{ fd: Number(fd), kind, target }];
    });
    return { listed, count: all.length };
  },
  reopenPath: (fd) => `/proc/self/fd/${fd}`,

  files: {
    ...posixFiles,
    memoryFolders: ['/dev/shm'],
    throughDescriptor: (fd) => throughLink(`/proc/self/fd/${fd}`, fd),
  },
};
