/**
 * A PostgreSQL server for one test, from Debian's package, in a temporary folder. If it isn't installed, the tests that need
 * it say so and are skipped. The server refuses to run as root; then it runs as the user `postgres`.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from './free-port.ts';

function findBinaries(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions) ? readdirSync(versions).map((one) => join(versions, one, 'bin')) : [];
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
}

/** User and group to run the server as; undefined if we are not root. */
function findServant(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const ask = (flag: string) =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout || Number.NaN);
  return { uid: ask('-u'), gid: ask('-g') };
}

export function whyNoPostgres(): string | undefined {
  if (!findBinaries()) return 'no PostgreSQL server here: apt-get install postgresql';
  const servant = findServant();
  return servant && Number.isNaN(servant.uid) ? 'there is no user postgres to run the server' : undefined;
}

export interface PostgresServer {
  url: string;
  /** Kills the server, as in a power failure. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops all its processes until `goOn`, as behind a broken network connection. */
  pause(): void;
  goOn(): void;
  remove(): Promise<void>;
}

/** `settings`: such as `shared_preload_libraries=pg_stat_statements`. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const bin = findBinaries() ?? '';
  const servant = findServant();
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-postgres-'));
  if (servant) chownSync(folder, servant.uid, servant.gid);
  const data = join(folder, 'data');
  const environment = { cwd: folder, env: { ...process.env, LC_ALL: 'C' }, ...servant };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'tester', '-A', 'trust', '-N', '-E', 'UTF8'], {
    ...environment,
    stdio: 'ignore',
  });
  const port = await findFreePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const words = ['-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'];
    words.push(...settings.flatMap((setting) => ['-c', setting]));
    const isReady = () =>
      spawnSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).status === 0;
    do {
      // A new server exits at once while the children of a killed one still use its shared memory.
      if (!child || child.exitCode !== null || child.signalCode !== null)
        child = spawn(join(bin, 'postgres'), words, { ...environment, stdio: 'ignore' });
      await new Promise((resolve) => setTimeout(resolve, 50));
    } while (!isReady());
  };
  const kill = () =>
    new Promise<void>((resolve) => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      // The children notice the postmaster's death and exit. An `immediate` shutdown would be SIGQUIT, which leaves no
      // half-written page either.
      child.kill('SIGKILL');
    });
  /** The postmaster first, so that it starts no new processes. */
  const signalAll = (signal: NodeJS.Signals) => {
    const postmaster = child?.pid ?? 0;
    const own = spawnSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' }).stdout;
    for (const pid of [postmaster, ...own.split('\n').map(Number)]) if (pid > 0) process.kill(pid, signal);
  };
  await start();
  return {
    url: `postgresql://tester@127.0.0.1:${port}/postgres`,
    kill,
    start,
    pause: () => signalAll('SIGSTOP'),
    goOn: () => signalAll('SIGCONT'),
    remove: async () => {
      if (child?.exitCode === null) {
        const ended = new Promise((resolve) => child?.once('exit', resolve));
        child.kill('SIGINT');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
