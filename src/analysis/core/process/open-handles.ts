/**
 * What the main thread's event loop waited for, from libuv's own list of handles. Only if the executable has a symbol for its
 * default loop; each handle must point to the loop, and the list must end where it began, otherwise nothing is returned.
 * Sources: libuv's uv.h and uv/unix.h; the offsets of the fields read here are the same in the versions of Node 18 to 26.
 */
import { type MemoryReader, whereMapped } from '../../../bytes/memory.ts';
import type { HandleFacts } from '../../../model/account.ts';
import type { V8Runtime } from '../javascript/v8-runtime.ts';
import { findRuntimeAddress } from '../native/module-map.ts';

const defaultLoop = 'default_loop_struct';
/** Offsets in uv_loop_t. */
const HANDLE_QUEUE = 16;
const ACTIVE_REQUESTS = 32;
/** Offsets in uv_handle_t: its loop, kind, place in the queue, flags. */
const LOOP = 8;
const KIND = 16;
const QUEUE = 32;
const FLAGS = 88;
const UV_HANDLE_CLOSING = 1;
const UV_HANDLE_ACTIVE = 4;
const UV_HANDLE_REF = 8;
const UV_HANDLE_INTERNAL = 16;
/** Flags of streams. */
const UV_HANDLE_READABLE = 0x4000;
const UV_HANDLE_WRITABLE = 0x8000;
/** The first field after those that all handles have. */
const OWN_FIELDS = 96;
const ioDescriptor = 48;
const streamWatcher = 136;
const datagramWatcher = 128;

interface Kind {
  name: string;
  /** Offset of its descriptor watcher. */
  watcher?: number;
  /** Offset of its number, and what that number is. */
  number?: [offset: number, of: string];
  isStream?: boolean;
}

/** By the numbers of uv_handle_type. Kinds that only C++ code uses are not listed: prepare, check, idle, async. */
const kinds: Readonly<Record<number, Kind>> = {
  3: { name: 'file watcher' },
  4: { name: 'file watcher (polling)' },
  7: { name: 'pipe', watcher: streamWatcher, isStream: true },
  8: { name: 'descriptor watcher' },
  10: { name: 'child process', number: [OWN_FIELDS + 8, 'pid'] },
  12: { name: 'TCP', watcher: streamWatcher, isStream: true },
  13: { name: 'timer of Node' },
  14: { name: 'terminal', watcher: streamWatcher, isStream: true },
  15: { name: 'UDP', watcher: datagramWatcher },
  16: { name: 'signal', number: [OWN_FIELDS + 8, 'number'] },
};
const timerKind = 13;
const maxKind = 17;
const maxHandles = 100_000;
const mostDetails = 8;

/** Undefined if the list can't be read or is inconsistent. */
export function findOpenHandles({ module, heap }: V8Runtime): HandleFacts[] | undefined {
  const symbol = module.code?.findNamed(defaultLoop);
  const loop = symbol && findRuntimeAddress(module, symbol.address);
  return loop === undefined ? undefined : whereMapped(() => readLoop(loop, heap.memory));
}

function readLoop(loop: number, memory: MemoryReader): HandleFacts[] | undefined {
  const head = loop + HANDLE_QUEUE;
  const byKind = new Map<string, { count: number; details: string[] }>();
  let previous = head;
  let count = 0;
  for (let at = memory.readWord(head); at !== head; at = memory.readWord(at)) {
    const handle = at - QUEUE;
    const kind = memory.readUint32(handle + KIND);
    const isSound =
      memory.readWord(at + 8) === previous && memory.readWord(handle + LOOP) === loop && kind <= maxKind;
    if (!isSound || ++count > maxHandles) return undefined;
    previous = at;
    add(byKind, handle, kind, memory);
  }
  const handles = [...byKind].map(([kind, { count, details }]): HandleFacts => {
    const detail = [...details.slice(0, mostDetails), ...(details.length > mostDetails ? ['…'] : [])].join(
      ', ',
    );
    return { kind, count, ...(detail && { detail }) };
  });
  const requests = memory.readUint32(loop + ACTIVE_REQUESTS);
  if (requests > 0 && requests < maxHandles)
    handles.push({ kind: 'requests of libuv', count: requests, detail: 'files, names, connects, writes' });
  return handles;
}

function add(
  byKind: Map<string, { count: number; details: string[] }>,
  handle: number,
  number: number,
  memory: MemoryReader,
): void {
  const kind = kinds[number];
  const flags = memory.readUint32(handle + FLAGS);
  const isAsked =
    (flags & (UV_HANDLE_INTERNAL | UV_HANDLE_CLOSING)) === 0 && (flags & UV_HANDLE_ACTIVE) !== 0;
  // Node uses one timer for all timers of the program.
  if (!kind || !isAsked || (number === timerKind && (flags & UV_HANDLE_REF) === 0)) return;
  const isServer = kind.isStream && (flags & (UV_HANDLE_READABLE | UV_HANDLE_WRITABLE)) === 0;
  const name = isServer ? `${kind.name} server` : kind.name;
  const entry = byKind.get(name) ?? { count: 0, details: [] };
  byKind.set(name, entry);
  entry.count++;
  const unref = (flags & UV_HANDLE_REF) === 0 ? ' (not keeping it alive)' : '';
  if (kind.watcher !== undefined)
    entry.details.push(`fd ${memory.readInt32(handle + kind.watcher + ioDescriptor)}${unref}`);
  else if (kind.number)
    entry.details.push(`${kind.number[1]} ${memory.readInt32(handle + kind.number[0])}${unref}`);
}
