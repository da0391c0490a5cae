/**
 * A core's memory to look around in: its regions, and the words at an address with what each refers to. Redacted like the
 * account, whose values show which texts are secrets. Kept open; asked again and again.
 */
import { basename } from 'node:path';
import { whereMapped } from '../../bytes/memory.ts';
import type { MemoryRegion, MemoryWord, Referent, ThreadRegisters } from '../../model/core-memory.ts';
import type { Gap } from '../../model/verdict.ts';
import type { Policy } from '../../redaction/index.ts';
import { accountForDump } from './core-account.ts';
import { type CoreDump, openAnyCore, openCoreInMemory } from './core-dump.ts';
import { type InspectedObject, inspectObject } from './graph/inspect-object.ts';
import type { V8Runtime } from './javascript/v8-runtime.ts';
import { redactMemory } from './mini/redact-core.ts';
import { readableName } from './native/native-names.ts';
import { redactAccount, redactorOf } from './redact-account.ts';

export interface MemoryView {
  threads: ThreadRegisters[];
  regions: MemoryRegion[];
  gaps: Gap[];
  words(at: number, count: number): MemoryWord[];
  /** The object at an address with V8's tag; undefined if there is none, or no V8. */
  inspect(object: number, limit: number): InspectedObject | undefined;
  close(): void;
}

const wordBytes = 8;
/** Read around the words, because a secret is recognised by the text around it. */
const contextBytes = 512;
/** Smaller numbers are no addresses. */
const lowest = 1 << 16;
const mostText = 160;
const mostFrames = 40;
/** No symbol without a size reaches farther. */
const farthest = 1 << 20;

/** `core`: a path, or the bytes of a bundle's part. Throws like `openAnyCore`. */
export async function openMemoryView(
  core: string | Uint8Array,
  options: { executable?: string } = {},
): Promise<MemoryView> {
  const dump = await (typeof core === 'string'
    ? openAnyCore(core, options)
    : openCoreInMemory(core, options));
  try {
    return await viewOf(dump);
  } catch (error) {
    dump.close();
    throw error;
  }
}

async function viewOf(dump: CoreDump): Promise<MemoryView> {
  let v8: V8Runtime | undefined;
  const found = await accountForDump(dump, { heap: false, onRuntime: (runtime) => (v8 = runtime) });
  const policy = redactorOf(dump, found);
  const account = redactAccount(found, policy);
  const regions = regionsOf(dump);
  const looker = new Looker(dump, v8, policy, regions);
  return {
    threads: (account.threads ?? []).map(({ id, name, kind, crashed, registers = {}, frames }) => ({
      id,
      name: name ?? kind,
      crashed,
      registers: Object.entries(registers).map(([register, value]) => ({ name: register, value })),
      frames: frames
        .flatMap(({ function: name = '(anonymous)', address }) =>
          address === undefined ? [] : [{ function: name, address }],
        )
        .slice(0, mostFrames),
    })),
    regions,
    gaps: account.gaps,
    words: (at, count) => looker.words(at, count),
    inspect: (object, limit) => looker.inspect(object, limit),
    close: () => dump.close(),
  };
}

/** A mini core has a segment for each few bytes that it keeps, and one for what it lacks between them. */
function joined(regions: readonly MemoryRegion[]): MemoryRegion[] {
  const all: MemoryRegion[] = [];
  for (const region of regions) {
    const last = all.at(-1);
    if (last?.end === region.start && last.access === region.access && last.name === region.name) {
      last.end = region.end;
      last.presentBytes += region.presentBytes;
    } else all.push({ ...region });
  }
  return all;
}

function regionsOf({ core, modules, memory }: CoreDump): MemoryRegion[] {
  const regions = core.segments
    .filter(({ start, end }) => end > start)
    .map(({ start, end, readable, writable, executable, fileSize }) => {
      const thread = core.threads.find(({ stackPointer }) => stackPointer >= start && stackPointer < end);
      const isInFile = fileSize < end - start && memory.has(start, end - start);
      return {
        start,
        end,
        access: `${readable ? 'r' : '-'}${writable ? 'w' : '-'}${executable ? 'x' : '-'}`,
        name: modules.find(start)?.module.path ?? (thread ? `stack of thread ${thread.tid}` : ''),
        presentBytes: isInFile ? end - start : Math.min(fileSize, end - start),
      };
    })
    .sort((a, b) => a.start - b.start);
  return joined(regions);
}

class Looker {
  readonly #dump: CoreDump;
  readonly #v8: V8Runtime | undefined;
  readonly #policy: Policy;
  readonly #regions: readonly MemoryRegion[];

  constructor(dump: CoreDump, v8: V8Runtime | undefined, policy: Policy, regions: readonly MemoryRegion[]) {
    this.#dump = dump;
    this.#v8 = v8;
    this.#policy = policy;
    this.#regions = regions;
  }

  words(at: number, count: number): MemoryWord[] {
    const first = Math.floor(at / wordBytes) * wordBytes;
    const { bytes, isPresent } = this.#clean(first, count * wordBytes);
    return Array.from({ length: count }, (_, n): MemoryWord => {
      const address = first + n * wordBytes;
      if (!isPresent[n]) return { address };
      const own = bytes.subarray(n * wordBytes, (n + 1) * wordBytes);
      const value = own.readBigUInt64LE();
      const refersTo = this.#referent(Number(value));
      return {
        address,
        bytes: own.toString('hex'),
        text: own.toString('latin1').replace(/[^\x20-\x7e]/g, '.'),
        value: `0x${value.toString(16)}`,
        ...(refersTo && { refersTo }),
      };
    });
  }

  inspect(object: number, limit: number): InspectedObject | undefined {
    const v8 = this.#v8;
    return v8 && safely(() => inspectObject(v8, object, limit, (text) => this.#policy.text(text)));
  }

  /** Words that aren't in the core are zeroes. */
  #clean(first: number, length: number): { bytes: Buffer; isPresent: boolean[] } {
    const start = Math.max(0, first - contextBytes);
    const window = Buffer.alloc(first - start + length + contextBytes);
    const isThere: boolean[] = [];
    for (let at = 0; at < window.length; at += wordBytes) {
      const found = whereMapped(() => this.#dump.memory.readBytes(start + at, wordBytes));
      if (found) window.set(found, at);
      isThere.push(found !== undefined);
    }
    const offset = first - start;
    const bytes = Buffer.from(window.subarray(offset, offset + length));
    redactMemory([{ target: bytes, window, offset }], this.#policy);
    return { bytes, isPresent: isThere.slice(offset / wordBytes, (offset + length) / wordBytes) };
  }

  #referent(value: number): Referent | undefined {
    if (!(value >= lowest && value < 2 ** 48)) return undefined;
    const v8 = this.#v8;
    if (v8 && safely(() => v8.heap.findType(value)) !== undefined) {
      const text = this.inspect(value, 0)?.text;
      return { kind: 'object', text: cut(text ?? 'an object of V8') };
    }
    const code = this.#symbolAt(value);
    if (code !== undefined) return { kind: 'code', text: code };
    const region = regionAt(this.#regions, value);
    if (!region) return undefined;
    return region.name.startsWith('stack of ')
      ? { kind: 'stack', text: region.name }
      : { kind: 'memory', text: region.name ? basename(region.name) : `${region.access} memory` };
  }

  #symbolAt(value: number): string | undefined {
    const location = this.#dump.modules.find(value);
    const { code, path } = location?.module ?? {};
    const address = location?.address;
    // A call that never returns may be the last instruction of a function.
    const symbol =
      address === undefined ? undefined : (code?.findFunction(address) ?? code?.findFunction(address - 1));
    if (address === undefined || path === undefined || !symbol || address - symbol.address > farthest)
      return undefined;
    const distance = address - symbol.address;
    return cut(
      `${readableName(symbol)}${distance ? `+0x${distance.toString(16)}` : ''} in ${basename(path)}`,
    );
  }
}

/** By a binary search, since there may be thousands. */
export function regionAt(regions: readonly MemoryRegion[], address: number): MemoryRegion | undefined {
  let [low, high] = [0, regions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (regions[middle]!.end > address) high = middle;
    else low = middle + 1;
  }
  const found = regions[low];
  return found && found.start <= address ? found : undefined;
}

const cut = (text: string): string => (text.length > mostText ? `${text.slice(0, mostText - 1)}…` : text);

/** Any word may look like an object: what its reading meets is no failure of ours. */
function safely<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
