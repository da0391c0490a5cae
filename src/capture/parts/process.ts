/**
 * `process.json`: the process that died, and the limits that the system set for it. Sources: process, proc(5), cgroup v1 and
 * v2.
 */
import { type ProcessPart, partNames } from '../../bundle/layout/bundle.ts';
import { notAvailable, platform } from '../../platform/index.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import { limitsIn } from '../../platform/systems/node-report.ts';
import { workingFolder } from '../host/working-folder.ts';
import { currentPolicy } from '../install/policy.ts';
import type { CaptureContext, PartProducer } from './part.ts';
import { ownReport } from './report.ts';

const { now } = Date;

export const processPart: PartProducer = {
  name: partNames.process,
  hasOwnFigures: true,
  produce(context): ProcessPart {
    const { trigger, workers } = context;
    if (platform.groupMount === undefined)
      context.addGap(partNames.process, notAvailable('control groups and their limits'));
    const startedMs = processStartMs();
    const container = findContainer();
    return {
      pid: process.pid,
      parentPid: process.ppid,
      title: process.title,
      argv: currentPolicy().argv(process.argv),
      execArgv: currentPolicy().argv(process.execArgv),
      execPath: process.execPath,
      cwd: workingFolder(),
      versions: versionsOf(process.versions),
      platform: process.platform,
      arch: process.arch,
      startedAt: new Date(startedMs).toISOString(),
      uptimeMs: Math.max(0, Date.parse(trigger.at) - startedMs),
      threadId: trigger.threadId,
      resourceUsage: { ...process.resourceUsage() },
      limits: readLimits(context),
      cgroup: readCgroup(),
      ...(container === undefined ? {} : { container }),
      workers: workers.all.map(({ threadId, name }) => ({ threadId, ...(name && { name }) })),
    };
  },
};

/** In milliseconds since the epoch. The trigger's time would be too early by what was done since. */
export function processStartMs(): number {
  return Math.round(now() - process.uptime() * 1000);
}

function versionsOf(versions: NodeJS.ProcessVersions): Record<string, string> {
  const entries = Object.entries(versions).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

/** From Node's report if the system has no file about them. */
function readLimits(context: CaptureContext): ProcessPart['limits'] {
  const limits = platform.limits('self');
  const report = Object.keys(limits).length > 0 ? undefined : ownReport(context);
  return report ? limitsIn(report) : limits;
}

const v2Files = [
  'memory.current',
  'memory.max',
  'memory.high',
  'memory.peak',
  'memory.swap.current',
  'cpu.max',
  'pids.current',
  'pids.max',
];
const v1Files = [
  'memory/memory.usage_in_bytes',
  'memory/memory.limit_in_bytes',
  'memory/memory.max_usage_in_bytes',
];

/** Limits and usage of this process's cgroup; numbers where the kernel returns numbers (`max` stays text). */
function readCgroup(): Record<string, string | number> {
  const result: Record<string, string | number> = {};
  const membership = platform.processFile('self', 'cgroup');
  if (membership === undefined || platform.groupMount === undefined) return result;
  const path = /^0::(.*)$/m.exec(membership)?.[1];
  if (path !== undefined) {
    result['path'] = path;
    for (const name of v2Files) addCgroupValue(result, name, readInGroup(path, name));
    for (const [, event, count] of (readInGroup(path, 'memory.events') ?? '').matchAll(/^(\w+) (\d+)$/gm))
      result[`memory.events.${event}`] = Number(count);
  }
  for (const name of v1Files) addCgroupValue(result, name, readSmallFile(`${platform.groupMount}/${name}`));
  return result;
}

/** In a container the mount itself is the group's folder, whatever its path on the host. */
function readInGroup(path: string, name: string): string | undefined {
  const mount = platform.groupMount;
  return readSmallFile(`${mount}${path}/${name}`) ?? readSmallFile(`${mount}/${name}`);
}

function addCgroupValue(
  result: Record<string, string | number>,
  name: string,
  text: string | undefined,
): void {
  const value = text?.trim();
  if (value) result[name] = /^\d+$/.test(value) ? Number(value) : value;
}

function findContainer(): string | undefined {
  if (process.env['KUBERNETES_SERVICE_HOST'] !== undefined) return 'kubernetes';
  if (readSmallFile('/.dockerenv') !== undefined) return 'docker';
  if (readSmallFile('/run/.containerenv') !== undefined) return 'podman';
  const membership = platform.processFile('self', 'cgroup') ?? '';
  return /\/(docker|containerd|kubepods|crio|lxc)[/-]/.exec(membership)?.[1];
}
