/**
 * The files that the process had mapped, each joined with the file on disk only if the build ids are equal: a rebuilt addon
 * would produce wrong frames, so it is refused with a gap. Handles files that are mapped more than once (Node maps its own
 * built-in code again at a high address).
 */
import { existsSync } from 'node:fs';
import { FileSource } from '../../../bytes/byte-source.ts';
import type { MemoryExtent, MemoryReader } from '../../../bytes/memory.ts';
import { memorySource } from '../../../bytes/memory-source.ts';
import { AgentdumpError } from '../../../errors.ts';
import { type ElfFile, findVirtualAddress, readElf, type Segment } from '../../../formats/elf/elf-file.ts';
import { PT_LOAD } from '../../../formats/elf/layout.ts';
import { findBuildId } from '../../../formats/elf/notes.ts';
import type { CoreFile, MappedFile } from '../../../formats/elf-core/core-contents.ts';
import { AT_ENTRY, AT_SYSINFO_EHDR, OWN_MODULE_RECORDS } from '../../../formats/elf-core/layout.ts';
import type { Gap } from '../../../model/verdict.ts';
import { findLinkedFiles } from './linked-files.ts';
import { FileCode, type ModuleCode } from './module-code.ts';
import { type ModuleRecord, parseModuleRecords, RecordedCode, RecordingCode } from './module-record.ts';
import { findFileOfBuild } from './module-search.ts';

export interface CoreModule {
  /** The path that the process knew. */
  path: string;
  start: number;
  /** Exclusive; the end of the last mapping. */
  end: number;
  buildId?: string;
  /** The first page of its file as in the core, if that has no build id. */
  firstPage?: Uint8Array;
  /** Symbols and unwind tables; absent without a file of the same build. */
  code?: ModuleCode;
  /** Their offsets are those in the file of `code`. */
  mappings: MappedFile[];
  /** The loaded segments by the header in memory: those of the file that the process had. */
  loaded?: Segment[];
}

export interface Location {
  module: CoreModule;
  /** The link-time address; absent without the module's file. */
  address?: number;
}

export class ModuleMap {
  readonly modules: CoreModule[];
  /** True if the core has no list of files, so that the dynamic linker's was used. */
  readonly isLinked: boolean;
  readonly #mappings: { mapping: MappedFile; module: CoreModule }[];

  constructor(modules: CoreModule[], isLinked = false) {
    this.modules = modules;
    this.isLinked = isLinked;
    this.#mappings = modules
      .flatMap((module) => module.mappings.map((mapping) => ({ mapping, module })))
      .sort((a, b) => a.mapping.start - b.mapping.start);
  }

  close(): void {
    for (const { code } of this.modules) code?.close();
  }

  /** The module whose mapping contains the address. */
  find(address: number): Location | undefined {
    let low = 0;
    let high = this.#mappings.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#mappings[middle]?.mapping.end ?? 0) > address) high = middle;
      else low = middle + 1;
    }
    const entry = this.#mappings[low];
    if (!entry || entry.mapping.start > address) return undefined;
    const { mapping, module } = entry;
    const fileOffset = mapping.fileOffset + (address - mapping.start);
    const linked = module.code && findVirtualAddress(module.code, fileOffset);
    return linked === undefined ? { module } : { module, address: linked };
  }
}

const pageSize = 4096;

export interface ModuleOptions {
  /** The program's executable, if it is not at the path that the process knew. */
  executable?: string;
  /** Record all lookups in the modules, for a mini core. */
  recordsModules?: boolean;
}

/** Joins mapped files with files on disk. `memory` only needs the core's own contents. */
export function openModules(
  core: CoreFile,
  memory: MemoryReader,
  options: ModuleOptions,
  gaps: Gap[],
): ModuleMap {
  const isListed = core.files.length > 0;
  const linked = isListed ? undefined : findLinkedFiles(core, memory, options.executable, gaps);
  if (linked) core.files.push(...linked.files);
  const byPath = new Map<string, MappedFile[]>();
  for (const file of core.files) {
    const list = byPath.get(file.path);
    if (list) list.push(file);
    else byPath.set(file.path, [file]);
  }
  const executable = findExecutablePath(core);
  const records = readRecords(core);
  const modules: CoreModule[] = [];
  for (const [path, mappings] of byPath) {
    const module = describeModule(path, mappings, core, memory);
    if (!module) continue;
    const given = path === executable ? options.executable : undefined;
    const place = linked?.places.get(path);
    const confirmed = place !== undefined && !module.buildId && !module.firstPage;
    const code = confirmed ? openFile(place).code : findCode(module, given ?? place, records.get(path), gaps);
    const moved = code && findMoved(module, code);
    if (code && !moved)
      gaps.push({ part: `core module ${path}`, reason: 'the file has other segments than the process had' });
    if (code && moved) {
      module.mappings = moved;
      module.code = options.recordsModules ? new RecordingCode(path, code) : code;
    }
    modules.push(module);
  }
  const vdso = openVdso(core, memory);
  if (vdso) modules.push(vdso);
  return new ModuleMap(modules, !isListed);
}

/** The path of the program's executable: the file mapped at its entry point. */
export function findExecutablePath(core: CoreFile): string | undefined {
  const entry = Number(core.auxiliary.get(AT_ENTRY) ?? 0n);
  return core.files.find((f) => entry >= f.start && entry < f.end)?.path;
}

/** Undefined for mapped data files. */
function describeModule(
  path: string,
  mappings: MappedFile[],
  core: CoreFile,
  memory: MemoryReader,
): CoreModule | undefined {
  const executable = core.segments.some(
    (s) => s.executable && mappings.some((m) => s.start < m.end && s.end > m.start),
  );
  const first = mappings.find((m) => m.fileOffset === 0);
  const header = first && readHeaderInMemory(memory, first);
  const buildId = header && findBuildId(header);
  if (!executable && !buildId) return undefined;
  mappings.sort((a, b) => a.start - b.start);
  const start = Math.min(...mappings.map((m) => m.start));
  const end = Math.max(...mappings.map((m) => m.end));
  const firstPage = first && !buildId ? memory.peek(first.start, pageSize) : undefined;
  return {
    path,
    start,
    end,
    mappings,
    ...(buildId ? { buildId } : {}),
    ...(firstPage ? { firstPage } : {}),
    ...(header ? { loaded: loadedOf(header) } : {}),
  };
}

function readHeaderInMemory(memory: MemoryReader, first: MappedFile): ElfFile | undefined {
  try {
    return readElf(memorySource(memory, first.start, first.end - first.start));
  } catch (error) {
    if (error instanceof AgentdumpError) return undefined;
    throw error;
  }
}

const loadedOf = ({ segments }: { readonly segments: readonly Segment[] }) =>
  segments.filter(({ type }) => type === PT_LOAD);

/** The address of the file's first byte, as linked. */
const linkedStart = ([first]: readonly Segment[]) => (first ? first.virtualAddress - first.offset : 0);

/**
 * The module's mappings by offsets in this file, where a segment may be at another offset than in the process's: `strip` moves
 * segments. Undefined if they are not the same segments.
 */
function findMoved({ mappings, loaded }: CoreModule, code: ModuleCode): MappedFile[] | undefined {
  if (!loaded) return mappings;
  const own = loadedOf(code);
  const isSame = (one: Segment, other: Segment | undefined) =>
    one.virtualAddress === other?.virtualAddress && one.fileSize === other.fileSize;
  if (own.length !== loaded.length || !loaded.every((segment, i) => isSame(segment, own[i])))
    return undefined;
  // Of two segments that share a page of the file, each has a mapping of it: only addresses tell them apart. What is mapped
  // a second time, at an address of no segment, is known by its offset.
  const bias = (mappings.find(({ fileOffset }) => fileOffset === 0)?.start ?? 0) - linkedStart(loaded);
  let isHeaderWrong = false;
  const moved = mappings.map((mapping) => {
    const byAddress = loaded.findIndex(
      ({ virtualAddress, memorySize }) =>
        bias + virtualAddress < mapping.end && bias + virtualAddress + memorySize > mapping.start,
    );
    const byOffset = () =>
      loaded.findIndex(
        ({ offset, fileSize, align }) =>
          mapping.fileOffset >= offset - (offset % Math.max(1, align)) &&
          mapping.fileOffset < offset + fileSize,
      );
    const i = byAddress < 0 ? byOffset() : byAddress;
    const by = (own[i]?.offset ?? 0) - (loaded[i]?.offset ?? 0);
    if (by === 0) return mapping;
    const { offset = 0, virtualAddress = 0 } = loaded[byAddress] ?? {};
    // The kernel's own list says where each segment was in the file.
    if (byAddress >= 0 && mapping.fileOffset - offset !== mapping.start - bias - virtualAddress)
      isHeaderWrong = true;
    return { ...mapping, fileOffset: mapping.fileOffset + by };
  });
  return isHeaderWrong ? undefined : moved;
}

function readRecords(core: CoreFile): Map<string, ModuleRecord> {
  const bytes = core.own.get(OWN_MODULE_RECORDS);
  return new Map((bytes && parseModuleRecords(bytes))?.map((record) => [record.path, record]));
}

/** A mini core's record is complete for its account, but a file named by the user takes precedence. */
function findCode(
  module: CoreModule,
  given: string | undefined,
  record: ModuleRecord | undefined,
  gaps: Gap[],
): ModuleCode | undefined {
  if (!record) return openCode(module, given, gaps);
  const named = given === undefined ? undefined : openCode(module, given, gaps);
  return named ?? new RecordedCode(record, () => openCode(module, undefined, []));
}

/** The file at its path, or a file of the same build elsewhere. */
function openCode(module: CoreModule, given: string | undefined, gaps: Gap[]): ModuleCode | undefined {
  const path = given ?? module.path;
  const part = `core module ${module.path}`;
  const miss = (reason: string) => {
    gaps.push({ part, reason, lookedFor: path });
    return undefined;
  };
  try {
    const { buildId: wanted } = module;
    const isThere = existsSync(path);
    const opened = isThere ? openFile(path) : undefined;
    if (opened && wanted && opened.buildId === wanted) return opened.code;
    if (opened && !wanted && opened.buildId === undefined && beginsAs(opened.code, module))
      return opened.code;
    opened?.code.close();
    const elsewhere = wanted && given === undefined ? findFileOfBuild(path, wanted) : undefined;
    if (elsewhere) return openFile(elsewhere).code;
    if (!isThere) return miss('the file is not on this machine');
    if (!wanted) return miss('the core does not hold its build id, so the file on disk is not trusted');
    return miss(`the file on disk is another build (${opened?.buildId ?? 'no build id'}, wanted ${wanted})`);
  } catch (error) {
    if (error instanceof AgentdumpError) return miss(error.message);
    throw error;
  }
}

/**
 * Linkers may omit the build id. Then the first page, with header, segments and the start of the tables, must equal the
 * core's.
 */
function beginsAs({ source }: FileCode, { firstPage }: CoreModule): boolean {
  if (!firstPage) return false;
  const page = new Uint8Array(firstPage.length);
  return source.readInto(page, 0) === page.length && Buffer.compare(page, firstPage) === 0;
}

function openFile(path: string): { code: FileCode; buildId: string | undefined } {
  const source = new FileSource(path);
  const file = readElf(source);
  const buildId = findBuildId(file);
  return { code: new FileCode(file, buildId, () => source.close()), buildId };
}

/** The vDSO exists only in memory, but completely. */
function openVdso(core: CoreFile, memory: MemoryReader): CoreModule | undefined {
  const start = Number(core.auxiliary.get(AT_SYSINFO_EHDR) ?? 0n);
  const segment = core.segments.find((s) => s.start === start);
  if (start === 0 || !segment) return undefined;
  try {
    const file: ElfFile = readElf(memorySource(memory, start, segment.fileSize));
    const path = '[vdso]';
    const mapping = { start, end: segment.end, fileOffset: 0, path };
    return {
      path,
      start,
      end: segment.end,
      mappings: [mapping],
      code: new FileCode(file, undefined, () => {}),
    };
  } catch (error) {
    if (error instanceof AgentdumpError) return undefined;
    throw error;
  }
}

/** The runtime address of a link-time address of the module; undefined if its segment was not mapped. */
export function findRuntimeAddress(module: CoreModule, address: number): number | undefined {
  const segment = module.code?.segments.find(
    (s) => s.type === PT_LOAD && address >= s.virtualAddress && address < s.virtualAddress + s.memorySize,
  );
  // A segment starts a mapping of its own, whose first page may also contain the end of the previous segment.
  const mapping = segment && findMapping(module, segment);
  return (
    mapping && mapping.start + (segment.offset - mapping.fileOffset) + (address - segment.virtualAddress)
  );
}

/** arm64 kernels may use larger pages. */
const pageSizes = [pageSize, 16 << 10, 64 << 10];

/**
 * The same page of a file is mapped twice where one segment ends and the next begins in it, so that the offset alone may name
 * the mapping of the other segment: the one at the segment's distance from the first is its own.
 */
function findMapping({ mappings, code }: CoreModule, segment: Segment): MappedFile | undefined {
  const first = code?.segments.find(({ type }) => type === PT_LOAD);
  for (const size of pageSizes) {
    const isStart = (m: MappedFile, { offset }: Segment) => m.fileOffset === offset - (offset % size);
    const found = mappings.filter((m) => isStart(m, segment));
    if (found.length < 2 || !first) {
      if (found[0]) return found[0];
      continue;
    }
    const page = ({ virtualAddress }: Segment) => virtualAddress - (virtualAddress % size);
    const starts = mappings.filter((m) => isStart(m, first)).map((m) => m.start - page(first));
    return found.find((m) => starts.includes(m.start - page(segment))) ?? found[0];
  }
  return undefined;
}

/** Code and constants, which a core omits because the files contain them. */
export function moduleExtents(map: ModuleMap): MemoryExtent[] {
  const extents: MemoryExtent[] = [];
  for (const { mappings, code } of map.modules) {
    const source = code?.source;
    if (!source) continue;
    for (const m of mappings) {
      const end = Math.min(m.end, m.start + Math.max(0, source.size - m.fileOffset));
      extents.push({ start: m.start, end, source, offset: m.fileOffset });
    }
  }
  return extents;
}
