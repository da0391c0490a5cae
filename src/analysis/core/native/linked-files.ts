/**
 * Finds the mapped files of a process whose core has no list of files (qemu's user-mode emulation writes none): from the
 * dynamic linker's list in memory and the segments of the files that it names. Such a core has no build ids either, so a file
 * is accepted only if its dynamic section equals that in memory, entry by entry. Sources: System V ABI, chapter 5 (dynamic
 * section); glibc's elf/link.h and musl's include/link.h (r_debug and link_map, which are the same in both).
 */
import { existsSync } from 'node:fs';
import { FileSource, readExactly } from '../../../bytes/byte-source.ts';
import { type MemoryReader, whereMapped } from '../../../bytes/memory.ts';
import { AgentdumpError } from '../../../errors.ts';
import { readElf, type Segment } from '../../../formats/elf/elf-file.ts';
import { PT_DYNAMIC, PT_LOAD } from '../../../formats/elf/layout.ts';
import type { CoreFile, MappedFile } from '../../../formats/elf-core/core-contents.ts';
import {
  AT_ENTRY,
  AT_EXECFN,
  type CoreMachine,
  machines,
  OWN_LINKED_FILES,
  OWN_NOTE,
} from '../../../formats/elf-core/layout.ts';
import { buildNote } from '../../../formats/elf-core/write-core.ts';
import type { Gap } from '../../../model/verdict.ts';

export interface LinkedFiles {
  files: MappedFile[];
  /** Paths of the files on this machine, by the path that the process knew. */
  places: Map<string, string>;
}

const part = 'modules of the core';
/** Where distributions install the libraries of another machine; usually also the argument of qemu's -L. */
const foreignRoots: Record<CoreMachine, string> = {
  x64: '/usr/x86_64-linux-gnu',
  arm64: '/usr/aarch64-linux-gnu',
};
const DT_NULL = 0n;
const DT_DEBUG = 21n;
/** r_debug: a version, then the first entry. An entry: l_addr, l_name, l_ld, l_next. */
const R_MAP = 8;
const L_NAME = 8;
const L_LD = 16;
const L_NEXT = 24;
const maxEntries = 10_000;
/** Usual dynamic sections have about 40 entries of 16 bytes. */
const maxDynamicBytes = 64 << 10;
const maxPath = 4096;
const pageSize = 4096;

/** `executable`: the path given by the user. */
export function findLinkedFiles(
  core: CoreFile,
  memory: MemoryReader,
  executable: string | undefined,
  gaps: Gap[],
): LinkedFiles {
  const found = findNoted(core) ?? whereMapped(() => walk(core, memory, executable, gaps));
  const linked = found ?? { files: [], places: new Map() };
  if (linked.files.length > 0)
    gaps.push({
      part,
      reason:
        "the core has no list of files and no build ids: they are those of the dynamic linker's list whose dynamic sections agree with the memory",
    });
  else
    gaps.push({ part, reason: 'the core names no files, and none were found by the dynamic linker’s list' });
  return linked;
}

/** For a mini core, whose reader may not have the executable. */
export function buildLinkedFilesNote(files: readonly MappedFile[]): Buffer {
  return buildNote(OWN_NOTE, OWN_LINKED_FILES, Buffer.from(JSON.stringify(files)));
}

function findNoted(core: CoreFile): LinkedFiles | undefined {
  const bytes = core.own.get(OWN_LINKED_FILES);
  if (!bytes) return undefined;
  try {
    const files: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return Array.isArray(files) && files.every(isMappedFile) ? { files, places: new Map() } : undefined;
  } catch {
    return undefined;
  }
}

function isMappedFile(value: unknown): value is MappedFile {
  const file = value as Partial<MappedFile> | null;
  const numbers = [file?.start, file?.end, file?.fileOffset];
  return (
    typeof file?.path === 'string' && numbers.every((n) => Number.isSafeInteger(n) && (n as number) >= 0)
  );
}

function walk(
  core: CoreFile,
  memory: MemoryReader,
  executable: string | undefined,
  gaps: Gap[],
): LinkedFiles | undefined {
  const named = readPath(memory, Number(core.auxiliary.get(AT_EXECFN) ?? 0n));
  const path = executable ?? named;
  if (path === undefined) return undefined;
  const miss = (reason: string) => {
    gaps.push({ part, reason, lookedFor: path });
    return undefined;
  };
  const [place] = placesOf(path, core.machine);
  if (place === undefined) return miss('the executable is not on this machine');
  const file = readProgram(place, core.machine);
  if (!file) return miss('the executable has no dynamic section of this machine');
  const base = Number(core.auxiliary.get(AT_ENTRY) ?? 0n) - file.entry;
  const dynamic = file.dynamicAddress + base;
  if (!isAt(file, dynamic, base, memory)) return miss('it is not the executable of this core');
  const linked: LinkedFiles = { files: [], places: new Map() };
  add(linked, named ?? path, place, file, base);
  for (const entry of entriesOf(memory, dynamic, file.dynamic.length / 2))
    if (entry.dynamic !== dynamic) addLibrary(linked, entry, core.machine, memory, gaps);
  return linked;
}

function addLibrary(
  linked: LinkedFiles,
  { path, base, dynamic }: LinkEntry,
  machine: CoreMachine,
  memory: MemoryReader,
  gaps: Gap[],
): void {
  // The vDSO is in the list too, but is not a file.
  if (!path.startsWith('/')) return;
  const places = placesOf(path, machine);
  for (const place of places) {
    const file = readProgram(place, machine);
    if (!file || !isAt(file, dynamic, base, memory)) continue;
    add(linked, path, place, file, base);
    return;
  }
  const reason =
    places.length === 0
      ? 'the file is not on this machine'
      : 'the file on disk is another build: its dynamic section is not that of the core';
  gaps.push({ part: `core module ${path}`, reason, lookedFor: path });
}

/** Existing candidates: the path itself, and the path below the other machine's library root. */
function placesOf(path: string, machine: CoreMachine): string[] {
  const places = path.startsWith('/') ? [path, foreignRoots[machine] + path] : [path];
  return places.filter((place) => existsSync(place));
}

interface ProgramFile {
  entry: number;
  segments: readonly Segment[];
  dynamicAddress: number;
  /** Alternating tags and values, up to the terminating entry. */
  dynamic: BigUint64Array;
}

/** Undefined if it is not an ELF file of this machine, or is statically linked. */
function readProgram(path: string, machine: CoreMachine): ProgramFile | undefined {
  const source = new FileSource(path);
  try {
    const { machine: number, entry, segments } = readElf(source);
    const place = segments.find((s) => s.type === PT_DYNAMIC);
    if (number !== machines[machine].number || !place || place.fileSize > maxDynamicBytes) return undefined;
    const bytes = readExactly(source, place.offset, place.fileSize - (place.fileSize % 16), {
      format: 'elf',
      field: 'dynamic section',
    });
    const words = new BigUint64Array(bytes.slice().buffer);
    const end = words.findIndex((word, i) => i % 2 === 0 && word === DT_NULL);
    const dynamic = words.subarray(0, end < 0 ? words.length : end);
    return { entry, segments, dynamicAddress: place.virtualAddress, dynamic };
  } catch (error) {
    if (error instanceof AgentdumpError) return undefined;
    throw error;
  } finally {
    source.close();
  }
}

/** Some dynamic linkers relocate the addresses in the section, and they fill in DT_DEBUG. */
function isAt(
  { dynamic, dynamicAddress }: ProgramFile,
  at: number,
  base: number,
  memory: MemoryReader,
): boolean {
  if (at !== dynamicAddress + base || base % pageSize !== 0 || !memory.has(at, dynamic.length * 8))
    return false;
  return dynamic.every((word, i) => {
    const inMemory = memory.readBigWord(at + i * 8);
    if (i % 2 === 0) return inMemory === word;
    return dynamic[i - 1] === DT_DEBUG || inMemory === word || inMemory === word + BigInt(base);
  });
}

interface LinkEntry {
  path: string;
  base: number;
  dynamic: number;
}

function* entriesOf(memory: MemoryReader, dynamic: number, count: number): Generator<LinkEntry> {
  const row = Array.from({ length: count }, (_, i) => dynamic + i * 16).find(
    (at) => memory.readBigWord(at) === DT_DEBUG,
  );
  const debug = row === undefined ? 0 : memory.readWord(row + 8);
  if (!debug) return;
  let at = memory.readWord(debug + R_MAP);
  for (let i = 0; at && i < maxEntries; i++) {
    const path = readPath(memory, memory.readWord(at + L_NAME)) ?? '';
    yield { path, base: memory.readWord(at), dynamic: memory.readWord(at + L_LD) };
    at = memory.readWord(at + L_NEXT);
  }
}

function readPath(memory: MemoryReader, at: number): string | undefined {
  const bytes: number[] = [];
  for (let i = 0; i < maxPath && memory.has(at + i, 1); i++) {
    const byte = memory.readUint8(at + i);
    if (byte === 0) return bytes.length > 0 ? Buffer.from(bytes).toString('utf8') : undefined;
    bytes.push(byte);
  }
  return undefined;
}

function add(
  linked: LinkedFiles,
  path: string,
  place: string,
  { segments }: ProgramFile,
  base: number,
): void {
  if (linked.places.has(path)) return;
  linked.places.set(path, place);
  for (const { type, virtualAddress, offset, fileSize } of segments) {
    if (type !== PT_LOAD || fileSize === 0) continue;
    const within = virtualAddress % pageSize;
    const start = base + virtualAddress - within;
    const end = start + Math.ceil((within + fileSize) / pageSize) * pageSize;
    linked.files.push({ start, end, fileOffset: offset - within, path });
  }
}
