/** `handles.json`: what keeps the process alive or holds a descriptor. Sources: Node's own lists, proc(5). */
import { sep } from 'node:path';
import { type HandlesPart, partNames, type TriggerKind } from '../../bundle/layout/bundle.ts';
import { notAvailable, platform } from '../../platform/index.ts';
import { quoteWords } from '../../platform/paths.ts';
import { descriptorsIn, socketsIn } from '../../platform/systems/node-report.ts';
import { startOf } from '../../redaction/start-of.ts';
import { countOpenBefore } from '../host/free-descriptors.ts';
import { countCreators } from '../stacks/creator-stacks.ts';
import type { PartProducer } from './part.ts';
import { ownReport } from './report.ts';
import { findBusyWorkers } from './threads/busy-workers.ts';

const maxDescriptors = 512;
const longestCommand = 4096;
const maxSocketTableBytes = 2 * 1024 * 1024;

/** Nothing of the main thread led to these, so that a worker may be what was at work. */
const stoppedKinds = new Set<TriggerKind>(['signal', 'no-progress', 'snapshot-signal', 'snapshot-call']);

export const handlesPart: PartProducer = {
  name: partNames.handles,
  produce(context): HandlesPart {
    const creators = countCreators();
    const busyWorkers = stoppedKinds.has(context.trigger.kind) ? findBusyWorkers(context.workers) : [];
    const resources = countBy(process.getActiveResourcesInfo());
    const open = platform.openDescriptors('self', maxDescriptors);
    const report = open ? undefined : ownReport(context);
    if (!open) context.addGap(partNames.handles, notAvailable('descriptors that no handle of Node has'));
    const { listed, count } = open ?? descriptorsIn(report ?? {});
    const own = `${context.config.dir}${sep}`;
    const descriptors = listed.filter(({ target }) => !target.startsWith(own));
    if (count > maxDescriptors)
      context.addGap(partNames.handles, `${count} descriptors; ${maxDescriptors} are listed`);
    return {
      ...(busyWorkers.length > 0 && { busyWorkers }),
      resources,
      descriptors,
      // Without our own. The one that lists the folder is closed again by the time it is examined.
      descriptorCount: countOpenBefore() ?? count - (listed.length - descriptors.length) - (open ? 1 : 0),
      sockets: report ? socketsIn(report) : findSockets(descriptors),
      timers: ['Timeout', 'Immediate'].flatMap((kind) =>
        resources[kind] ? [{ kind, count: resources[kind] }] : [],
      ),
      children: findChildren(),
      ...(creators && { creators }),
    };
  },
};

function countBy(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** TCP and UDP sockets of this process: the system's tables, joined by the inode in the descriptor's link. */
function findSockets(descriptors: HandlesPart['descriptors']): HandlesPart['sockets'] {
  const byInode = new Map<string, number>();
  for (const { fd, target } of descriptors) {
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode !== undefined) byInode.set(inode, fd);
  }
  if (byInode.size === 0) return [];
  return ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((protocol) => readSocketTable(protocol, byInode));
}

function readSocketTable(protocol: string, byInode: Map<string, number>): HandlesPart['sockets'] {
  const sockets: HandlesPart['sockets'] = [];
  for (const line of (platform.processFile('self', `net/${protocol}`, maxSocketTableBytes) ?? '')
    .split('\n')
    .slice(1)) {
    const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
    const fd = inode === undefined ? undefined : byInode.get(inode);
    if (fd === undefined || !local || !remote || !state) continue;
    sockets.push({
      fd,
      protocol,
      local: endpoint(local),
      remote: endpoint(remote),
      state: tcpStates[Number.parseInt(state, 16)] ?? state,
    });
  }
  return sockets;
}

/** include/net/tcp_states.h; UDP uses states 1 and 7. */
const tcpStates = [
  '',
  'ESTABLISHED',
  'SYN_SENT',
  'SYN_RECV',
  'FIN_WAIT1',
  'FIN_WAIT2',
  'TIME_WAIT',
  'CLOSE',
  'CLOSE_WAIT',
  'LAST_ACK',
  'LISTEN',
  'CLOSING',
];

/** `0100007F:1F90` → `127.0.0.1:8080`: 32-bit words in host order, port in hexadecimal. */
function endpoint(text: string): string {
  const [hex = '', port = ''] = text.split(':');
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length % 4 === 0) bytes.swap32();
  return bytes.length === 4
    ? `${bytes.join('.')}:${Number.parseInt(port, 16)}`
    : `[${ipv6Text(bytes)}]:${Number.parseInt(port, 16)}`;
}

function ipv6Text(bytes: Buffer): string {
  if (
    bytes.length === 16 &&
    bytes.subarray(0, 10).every((byte) => byte === 0) &&
    bytes.readUInt16BE(10) === 0xffff
  )
    return `::ffff:${bytes.subarray(12).join('.')}`;
  const words = Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16));
  return words.join(':').replace(/(^|:)0(:0)+(:|$)/, '::');
}

function findChildren(): HandlesPart['children'] {
  const pids = (platform.processFile('self', `task/${process.pid}/children`) ?? '')
    .trim()
    .split(/\s+/)
    .filter(Boolean);
  return pids.slice(0, 64).map((pid) => {
    const command = platform.processFile(Number(pid), 'cmdline', longestCommand + 1) ?? '';
    const words = command.replace(/\0+$/, '').split('\0');
    return { pid: Number(pid), command: command && startOf(quoteWords(words), longestCommand) };
  });
}
