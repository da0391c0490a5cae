/**
 * A real systemd as process 1 of separate namespaces, with its own units, cgroup tree and /run. Needs the systemd package,
 * permission to create namespaces, and a cgroup2 file system in which a group can be created. The machine itself is
 * protected: mounts are private, /proc/sys is read-only, and systemd is told that it runs in a container.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const binary = ['/lib/systemd/systemd', '/usr/lib/systemd/systemd'].find((path) => existsSync(path));
const namespaces = ['--cgroup', '--pid', '--fork', '--mount', '--ipc', '--uts', '--kill-child'];
/** What takes longer than this is considered failed. */
const patienceMs = 60_000;

/** The reason why it can't run here; false if it can. */
export function whyNoServiceManager(): string | false {
  if (binary === undefined) return 'no systemd here';
  if (spawnSync('unshare', [...namespaces, 'true']).status !== 0) return 'no right to make namespaces';
  const group = makeGroup();
  if (group === undefined) return 'no cgroup2 file system in which a group can be made';
  removeGroup(group);
  return false;
}

export interface ServiceManager {
  systemctl(...words: string[]): string;
  /** Waits until the value of the unit's property matches `wanted`. */
  until(unit: string, property: string, wanted: RegExp): Promise<string>;
  stop(): Promise<void>;
}

/** `units`: texts by file name; `first`: the unit to start. The unit files are written to `folder`. */
export async function startServiceManager(
  folder: string,
  units: Record<string, string>,
  first: string,
): Promise<ServiceManager> {
  const group = makeGroup();
  if (group === undefined || binary === undefined) throw new Error('no service manager here');
  for (const [name, text] of Object.entries(units)) writeFileSync(join(folder, name), text);
  const words = ['--system', `--unit=${first}`, '--log-target=null', '--show-status=no'];
  const script = `mount --make-rprivate / && mount -t proc proc /proc && mount --bind /proc/sys /proc/sys &&
    mount -o remount,bind,ro /proc/sys && umount -l /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup &&
    mount -t tmpfs tmpfs /run && exec "$@"`;
  const command = ['sh', '-c', script, 'sh', binary, ...words];
  const enter = `echo $$ > '${group}/cgroup.procs' && exec unshare "$@"`;
  const child = spawn('/bin/sh', ['-c', enter, 'sh', ...namespaces, ...command], {
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', container: 'test', SYSTEMD_UNIT_PATH: folder },
    stdio: 'ignore',
  });
  const manager = new NamespacedManager(child, group);
  await manager.until(first, 'ActiveState', /^active$/);
  return manager;
}

class NamespacedManager implements ServiceManager {
  readonly #child: ChildProcess;
  readonly #group: string;

  constructor(child: ChildProcess, group: string) {
    this.#child = child;
    this.#group = group;
  }

  systemctl(...words: string[]): string {
    const { pid } = this.#child;
    const first = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return spawnSync('nsenter', ['-t', first, '-m', '-p', 'systemctl', '--no-pager', ...words], {
      encoding: 'utf8',
    }).stdout.trim();
  }

  async until(unit: string, property: string, wanted: RegExp): Promise<string> {
    let value = '';
    for (const end = Date.now() + patienceMs; Date.now() < end; await pause(100)) {
      value = this.systemctl('show', unit, '--value', '-p', property);
      if (wanted.test(value)) return value;
    }
    throw new Error(`${property} of ${unit} is ${value}, not ${wanted}`);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
    for (let look = 0; look < 50 && !removeGroup(this.#group); look++) await pause(100);
  }
}

let made = 0;

/** Below the cgroup that the tests run in. Undefined if none can be created. */
function makeGroup(): string | undefined {
  const [, mount] = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
  const [, own] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
  if (mount === undefined || own === undefined) return undefined;
  const path = join(mount, own, `agentdump-systemd-${process.pid}-${made++}`);
  try {
    mkdirSync(path);
    return path;
  } catch {
    return undefined;
  }
}

/** Including the groups in it. False while a process runs in one of them. */
function removeGroup(path: string): boolean {
  try {
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory()) removeGroup(join(path, entry.name));
    rmdirSync(path);
    return true;
  } catch {
    return !existsSync(path);
  }
}
