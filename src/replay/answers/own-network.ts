/**
 * Runs the replayed program in a network namespace that contains nothing else, so that traffic that Node does not see
 * (children that are not Node processes, the name resolver) reaches nobody either. The replayer's sockets are files and stay
 * reachable. Uses kernel namespaces if permitted (util-linux and iproute2; many containers forbid it). Source: unshare(1).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

const inside = ['--', '/bin/sh', '-c', 'ip link set lo up && exec "$0" "$@"'];
/** Root needs no user namespace, in which it would lose root's access to files of other users. */
const ways = [['--net'], ['--user', '--map-current-user', '--keep-caps', '--net']];

/**
 * The command that starts this one in such a network, as the same process. Undefined if no namespace can be created, and for
 * a program that does not exist, so that starting it reports the error.
 */
export function inOwnNetwork(command: readonly string[], cwd = process.cwd()): string[] | undefined {
  if (!isThere(command[0] ?? '', cwd)) return undefined;
  const way = ways.find(
    (words) => spawnSync('unshare', [...words, ...inside, 'true'], { stdio: 'ignore' }).status === 0,
  );
  return way && ['unshare', ...way, ...inside, ...command];
}

function isThere(file: string, cwd: string): boolean {
  const folders = file.includes('/') ? [cwd] : (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) =>
    existsSync(file.includes('/') ? resolve(folder, file) : join(folder, file)),
  );
}
