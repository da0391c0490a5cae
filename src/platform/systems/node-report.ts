/** Limits and files from Node's diagnostic report, for systems that don't expose processes as files. */
import type { Limits, OpenDescriptors } from '../interface.ts';

/** The fields that are used here (Node's documentation of the diagnostic report). */
export interface NodeReport {
  userLimits?: Record<string, { soft: number | string; hard: number | string }>;
  libuv?: ReportedHandle[];
}

interface ReportedHandle {
  type?: string;
  is_active?: boolean;
  fd?: number;
  filename?: string;
  localEndpoint?: ReportedEndpoint | null;
  remoteEndpoint?: ReportedEndpoint | null;
}

interface ReportedEndpoint {
  ip4?: string;
  ip6?: string;
  host?: string;
  port?: number;
}

/** Maps to Linux's names, with the unit in bytes. */
const limitNames: Record<string, [name: string, unit: number]> = {
  core_file_size_blocks: ['Max core file size', 512],
  data_seg_size_kbytes: ['Max data size', 1024],
  file_size_blocks: ['Max file size', 512],
  open_files: ['Max open files', 1],
  stack_size_bytes: ['Max stack size', 1],
  cpu_time_seconds: ['Max cpu time', 1],
  max_user_processes: ['Max processes', 1],
  virtual_memory_kbytes: ['Max address space', 1024],
};

export function limitsIn({ userLimits = {} }: NodeReport): Limits {
  const limits: Limits = {};
  for (const [reported, { soft, hard }] of Object.entries(userLimits)) {
    const [name, unit] = limitNames[reported] ?? [];
    if (name === undefined || unit === undefined) continue;
    const textOf = (value: number | string): string =>
      typeof value === 'number' ? String(value * unit) : value;
    limits[name] = { soft: textOf(soft), hard: textOf(hard) };
  }
  return limits;
}

const kinds: Record<string, string> = { tcp: 'socket', udp: 'socket', pipe: 'pipe', tty: 'device' };

/** From libuv's handles. A file that is open but not in use by a call has no handle, so it is not included. */
export function descriptorsIn({ libuv = [] }: NodeReport): OpenDescriptors {
  const listed = libuv.flatMap(({ type = '', fd, filename }) => {
    const kind = kinds[type];
    if (kind === undefined || fd === undefined || fd < 0) return [];
    return [{ fd, kind, target: filename ?? type }];
  });
  return { listed, count: listed.length };
}

export function socketsIn({
  libuv = [],
}: NodeReport): { fd?: number; protocol: string; local?: string; remote?: string }[] {
  return libuv.flatMap(({ type, fd, localEndpoint, remoteEndpoint }) => {
    if (type !== 'tcp' && type !== 'udp') return [];
    const local = endpointText(localEndpoint);
    const remote = endpointText(remoteEndpoint);
    if (local === undefined && remote === undefined) return [];
    return [
      {
        ...(fd !== undefined && { fd }),
        protocol: type,
        ...(local !== undefined && { local }),
        ...(remote !== undefined && { remote }),
      },
    ];
  });
}

function endpointText(endpoint: ReportedEndpoint | null | undefined): string | undefined {
  if (!endpoint) return undefined;
  const { ip4, ip6, host, port } = endpoint;
  const address = ip4 ?? (ip6 === undefined ? host : `[${ip6}]`);
  return address === undefined ? undefined : `${address}:${port ?? 0}`;
}
