/**
 * What keeps an idle process alive, from `process.getActiveResourcesInfo()`. Pipes and terminals are left out, since they may
 * be its own standard streams.
 */
import { formatNumber } from '../../model/quantities.ts';
import type { VerdictFacts } from './facts.ts';

const names: Record<string, [one: string, many: string]> = {
  TCPServerWrap: ['a listening server', 'listening servers'],
  PipeServerWrap: ['a server on a local socket', 'servers on local sockets'],
  TCPSocketWrap: ['a TCP connection', 'TCP connections'],
  TLSSocketWrap: ['a TLS connection', 'TLS connections'],
  UDPWrap: ['a UDP socket', 'UDP sockets'],
  Timeout: ['a timer', 'timers'],
  FSEventWrap: ['a watched file', 'watched files'],
  StatWatcher: ['a watched file', 'watched files'],
  ProcessWrap: ['a child process', 'child processes'],
  Worker: ['a worker thread', 'worker threads'],
  MessagePort: ['a message port', 'message ports'],
};

/** `a server that listens on 127.0.0.1:8080`, `2 timers`. */
export function keepersOf({ handles }: Pick<VerdictFacts, 'handles'>): string[] {
  return Object.entries(handles?.resources ?? {}).flatMap(([kind, count]) => {
    const [one, many] = names[kind] ?? [];
    if (one === undefined || count < 1) return [];
    const addresses = kind === 'TCPServerWrap' ? listening(handles) : [];
    // The debugger's own listener is counted as a resource, but is not a handle of the program.
    if (addresses.length === count) return addresses.map((address) => `a server that listens on ${address}`);
    return [count === 1 ? one : `${formatNumber(count)} ${many}`];
  });
}

function listening(handles: VerdictFacts['handles']): string[] {
  return (handles?.sockets ?? []).flatMap(({ state, local }) =>
    state === 'LISTEN' && local !== undefined ? [local] : [],
  );
}
