/**
 * `native-modules.json`: the objects mapped into the process, with their addresses and build ids, so that a core or a native
 * address can be resolved later. Sources: /proc/self/maps (proc(5)); the ELF note NT_GNU_BUILD_ID (elf(5)).
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { type NativeModulesPart, partNames } from '../../bundle/layout/bundle.ts';
import { notAvailable, platform } from '../../platform/index.ts';
import type { PartProducer } from './part.ts';

const maxModules = 512;

export const nativeModulesPart: PartProducer = {
  name: partNames.nativeModules,
  produce(context): NativeModulesPart | undefined {
    const maps = platform.processFile('self', 'maps', 8 * 1024 * 1024);
    if (maps === undefined) {
      context.addGap(
        partNames.nativeModules,
        `${notAvailable('where objects are mapped')}; ${partNames.report} has their paths`,
      );
      return undefined;
    }
    const modules = findModules(maps);
    if (modules.length > maxModules)
      context.addGap(partNames.nativeModules, `${modules.length} objects; ${maxModules} are listed`);
    return { modules: modules.slice(0, maxModules) };
  },
};

/**
 * One row for each mapped file with an executable part; its range covers its segments, end exclusive. Segments ascend with
 * their offsets in the file. A mapping with a lower offset is not a segment: V8 maps Node's builtins a second time, near its
 * own code.
 */
export function findModules(maps: string): NativeModulesPart['modules'] {
  const ranges = new Map<
    string,
    { base: bigint; end: bigint; first: bigint; last: bigint; executable: boolean }
  >();
  for (const [, start, stop, permissions, place, path] of maps.matchAll(
    /^([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+ +(\/.*)$/gm,
  )) {
    if (path === undefined) continue;
    const [base, end, offset] = [BigInt(`0x${start}`), BigInt(`0x${stop}`), BigInt(`0x${place}`)];
    const known = ranges.get(path);
    const executable = known?.executable === true || permissions?.includes('x') === true;
    if (!known || (known.first > 0n && offset === 0n))
      ranges.set(path, { base, end, first: offset, last: offset, executable });
    else if (offset < known.last) known.executable = executable;
    else Object.assign(known, { end, last: offset, executable });
  }
  return [...ranges]
    .filter(([, range]) => range.executable)
    .map(([path, { base, end }]) => {
      const buildId = readBuildId(path);
      const row = { path, base: `0x${base.toString(16)}`, end: `0x${end.toString(16)}` };
      return buildId === undefined ? row : { ...row, buildId };
    });
}

const PT_NOTE = 4;
const NT_GNU_BUILD_ID = 3;

/** The build id of a 64-bit little-endian ELF file, in hexadecimal; undefined if there is none in its first pages. */
function readBuildId(path: string): string | undefined {
  const head = Buffer.alloc(8192);
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const size = readSync(fd, head, 0, head.length, 0);
    return findBuildId(head.subarray(0, size));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function findBuildId(head: Buffer): string | undefined {
  if (head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2 || head[5] !== 1) return undefined;
  const tableOffset = Number(head.readBigUInt64LE(32));
  const entrySize = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  for (let i = 0; i < count; i++) {
    const entry = tableOffset + i * entrySize;
    if (entry + 56 > head.length || head.readUInt32LE(entry) !== PT_NOTE) continue;
    const offset = Number(head.readBigUInt64LE(entry + 8));
    const size = Number(head.readBigUInt64LE(entry + 32));
    const id = findNote(head.subarray(offset, offset + size));
    if (id !== undefined) return id;
  }
  return undefined;
}

function findNote(notes: Buffer): string | undefined {
  for (let at = 0; at + 12 <= notes.length; ) {
    const nameSize = notes.readUInt32LE(at);
    const size = notes.readUInt32LE(at + 4);
    const content = at + 12 + Math.ceil(nameSize / 4) * 4;
    if (notes.readUInt32LE(at + 8) === NT_GNU_BUILD_ID && content + size <= notes.length)
      return notes.toString('hex', content, content + size);
    at = content + Math.ceil(size / 4) * 4;
  }
  return undefined;
}
