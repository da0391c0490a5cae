/** libuv's handles: they keep the process alive, and show its connections. */
import { addressIn, flagIn, type Json, numberIn, objectIn, present, textIn } from './lenient.ts';

export interface ReportHandle {
  /** libuv's name: `tcp`, `timer`, `pipe`, `process`, `fs_event`, … */
  type: string;
  active?: boolean;
  referenced?: boolean;
  address?: string;
  fd?: number;
  /** `host:port`, or the name of a pipe or file. */
  local?: string;
  remote?: string;
  filename?: string;
  pid?: number;
  signal?: string;
  firesInMs?: number;
  repeatMs?: number;
  writeQueueBytes?: number;
}

/** All handles except for the loop itself. */
export function readHandles(handles: readonly Json[]): ReportHandle[] {
  return handles.flatMap((handle) => {
    const type = textIn(handle, 'type');
    if (type === undefined || type === 'loop') return [];
    return [
      {
        type,
        ...present({
          active: flagIn(handle, 'is_active'),
          referenced: flagIn(handle, 'is_referenced'),
          address: addressIn(handle, 'address'),
          fd: numberIn(handle, 'fd'),
          local: readEndpoint(handle, 'localEndpoint'),
          remote: readEndpoint(handle, 'remoteEndpoint'),
          filename: textIn(handle, 'filename'),
          pid: numberIn(handle, 'pid'),
          signal: textIn(handle, 'signal'),
          firesInMs: numberIn(handle, 'firesInMsFromNow'),
          repeatMs: numberIn(handle, 'repeat'),
          writeQueueBytes: numberIn(handle, 'writeQueueSize'),
        }),
      },
    ];
  });
}

/** Pipes have a name, sockets a host and a port; since version 4 the address is a separate field next to the host's name. */
function readEndpoint(handle: Json, name: string): string | undefined {
  const endpoint = objectIn(handle, name);
  if (!endpoint) return textIn(handle, name);
  const host = textIn(endpoint, 'ip4') ?? textIn(endpoint, 'ip6') ?? textIn(endpoint, 'host');
  const port = numberIn(endpoint, 'port');
  if (host === undefined || port === undefined) return host;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
