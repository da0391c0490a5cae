/**
 * A network for the replayed program alone, with nothing in it but itself: what Node does not see (a child that is no
 * Node, the resolver of names) reaches nobody either. The replayer's sockets are files and stay in reach. Made by the
 * kernel's namespaces where it lets us (util-linux and iproute2; many containers forbid it). Source: unshare(1).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

const inside = ['--', '/bin/sh', '-c', 'ip link set lo up && exec "$0" "$@"'];
/** Root needs no namespace of users, in which it would be root no more for other people's files. */
const ways = [['--net'], ['--user', '--map-current-user', '--keep-caps', '--net']];

/**
 * The command that starts this one in such a network, as the same process; undefined where none can be made, and for a
 * program that is not there, of which its start is to say so.
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
