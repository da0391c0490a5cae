/**
 * The machine, from the kernel's files where there are some: the program may have replaced the functions of node:os. Not among
 * what differs by system, because that is loaded at every start, and this at a death.
 */
import { platform } from './index.ts';
import { readSmallFile } from './small-file.ts';

export interface MachineFacts {
  os: {
    type: string;
    release: string;
    version: string;
    hostname: string;
    uptimeSeconds: number;
    loadAverage: number[];
    cpus: number;
  };
  memoryBytes: number;
}

export function readMachine(): MachineFacts {
  return (platform.hasProcessFiles && fromKernel()) || fromNode();
}

function fromKernel(): MachineFacts | undefined {
  const read = (name: string): string => readSmallFile(`/proc/${name}`)?.trim() ?? '';
  const loadAverage = read('loadavg').split(' ').slice(0, 3).map(Number);
  const cpus = read('stat').match(/^cpu\d/gm)?.length;
  const kilobytes = /^MemTotal:\s+(\d+) kB$/m.exec(read('meminfo'))?.[1];
  const uptime = Number.parseFloat(read('uptime'));
  if (loadAverage.length < 3 || !cpus || kilobytes === undefined || Number.isNaN(uptime)) return undefined;
  return {
    os: {
      type: read('sys/kernel/ostype'),
      release: read('sys/kernel/osrelease'),
      version: read('sys/kernel/version'),
      hostname: platform.hostName(),
      uptimeSeconds: Math.round(uptime),
      loadAverage,
      cpus,
    },
    memoryBytes: Number(kilobytes) * 1024,
  };
}

function fromNode(): MachineFacts {
  const os = process.getBuiltinModule('node:os');
  return {
    os: {
      type: os.type(),
      release: os.release(),
      version: os.version(),
      hostname: os.hostname(),
      uptimeSeconds: Math.round(os.uptime()),
      loadAverage: os.loadavg(),
      cpus: os.cpus().length,
    },
    memoryBytes: os.totalmem(),
  };
}
