/**
 * A network for the replayed program alone, with nothing in it but itself: what Node does not see (a child that is no
 * Node, the resolver of names) reaches nobody either. The replayer's sockets are files and stay in reach. Made by the
 * kernel's namespaces where it lets us (util-linux and iproute2; many containers forbid it). Source: unshare(1).
 */
import { spawnSync } from 'node:child_process';

const inside = ['--', '/bin/sh', '-c', 'ip link set lo up && exec "$0" "$@"'];
/** Root needs no namespace of users, in which it would be root no more for other people's files. */
const ways = [['--net'], ['--user', '--map-current-user', '--keep-caps', '--net']];

/** The command that starts this one in such a network, as the same process; undefined where none can be made. */
export function inOwnNetwork(command: readonly string[]): string[] | undefined {
  const way = ways.find(
    (words) => spawnSync('unshare', [...words, ...inside, 'true'], { stdio: 'ignore' }).status === 0,
  );
  return way && ['unshare', ...way, ...inside, ...command];
}
