/**
 * Writes mini cores: the notes, the stacks, and exactly the memory that the analysis read, so that about 80 kB give the same
 * account. What requires the whole heap is stored as a note. The result is still a core that gdb and eu-stack can open.
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { touchBlockBytes } from '../../../bytes/memory.ts';
import { AgentdumpError } from '../../../errors.ts';
import type { CoreFile, CoreSegment } from '../../../formats/elf-core/core-contents.ts';
import { withoutOwnNotes, withoutVectorRegisters } from '../../../formats/elf-core/core-notes.ts';
import { OWN_MODULE_RECORDS, OWN_NOTE } from '../../../formats/elf-core/layout.ts';
import { buildNote, layOutCore, type WrittenSegment } from '../../../formats/elf-core/write-core.ts';
import { emptyHash } from '../../../formats/v8/text-hashes.ts';
import type { Account } from '../../../model/account.ts';
import { accountForDump } from '../core-account.ts';
import { type CoreDump, openAnyCore } from '../core-dump.ts';
import { buildSurveyNote, type SurveyRecord, surveyPart } from '../javascript/survey-note.ts';
import type { V8Runtime } from '../javascript/v8-runtime.ts';
import { buildLinkedFilesNote } from '../native/linked-files.ts';
import { RecordingCode } from '../native/module-record.ts';
import { buildStartWordsNote, redactWords, type StartWords, titleGap } from '../process/start-words.ts';
import { redactAccount } from '../redact-account.ts';
import { blankTexts } from './blank-texts.ts';
import { type CoreRedactor, type KeptBytes, learnSecrets, redactMemory } from './redact-core.ts';
import { blankStaleTexts } from './stale-texts.ts';

export interface MiniCore {
  account: Account;
  /** Bytes of memory that were kept. */
  memoryBytes: number;
  rawBytes: number;
  /** Size of the written file, in bytes. */
  bytes: number;
}

const pageSize = 4096;
/**
 * Granularity of the kept memory: each run needs an entry of 56 bytes in the segment table. Unread memory in a kept block is
 * zeroed.
 */
const keptBlockBytes = 128;
/** Kept bytes of a mapped file's first page: the ELF header, segment table and build id, by which other tools identify it. */
const headerBytes = 1024;
/** Kept around each stack pointer, so that other tools can unwind: the signal frame below, the frames above. */
const bytesBelow = 256;
const bytesAbove = 4 << 10;

export interface MiniCoreOptions {
  executable?: string;
  /** Removes secrets without changing lengths. Without it the memory is written unchanged. */
  redactor?: CoreRedactor;
}

/** Analyses the core at `from` and writes what was read to `to`, gzipped if its name ends in `.gz`. */
export async function writeMiniCore(
  from: string,
  to: string,
  { redactor, ...options }: MiniCoreOptions = {},
): Promise<MiniCore> {
  const touchedBlocks = new Set<number>();
  const dump = await openAnyCore(from, { ...options, touchedBlocks });
  try {
    let v8: V8Runtime | undefined;
    const account = await accountForDump(dump, { onRuntime: (runtime) => (v8 = runtime) });
    const outer = v8?.scripts.outerTexts() ?? [];
    const readBlocks = new Set(touchedBlocks);
    addStacks(dump, touchedBlocks);
    if (redactor) learnSecrets(account, redactor);
    const survey = buildSurvey(account, redactor);
    const blocks = keptBlocks(touchedBlocks);
    dump.memory.touchedBlocks = undefined;
    const pieces = dump.core.segments.flatMap((s) => splitSegment(s, blocks, dump));
    const allNotes = withoutOwnNotes(dump.core.notes);
    const systemNotes = redactor ? withoutVectorRegisters(allNotes) : allNotes;
    if (redactor)
      redactMemory([{ target: systemNotes, window: Buffer.from(systemNotes), offset: 0 }], redactor);
    const notes = Buffer.concat([
      systemNotes,
      buildSurveyNote(survey),
      ...startWords(account, redactor),
      buildModulesNote(dump),
      ...(dump.modules.isLinked ? [buildLinkedFilesNote(dump.core.files)] : []),
    ]);
    const layout = layOutCore(
      pieces.map(({ segment }) => segment),
      notes,
      dump.core.machine,
    );
    const raw = Buffer.alloc(layout.size);
    raw.set(layout.head);
    const kept = pieces.flatMap(({ segment, bytesAt, limit, ofStack }, i): KeptBytes[] => {
      if (segment.fileSize === 0) return [];
      const target = raw.subarray(layout.offsets[i], (layout.offsets[i] ?? 0) + segment.fileSize);
      if (bytesAt >= limit[1]) {
        // Constants and code of a module, which are in its file anyway.
        target.set(dump.memory.readBytes(segment.start, segment.fileSize));
        blankTexts(target, segment.start, outer);
        return [];
      }
      dump.core.source.readInto(target, bytesAt);
      if (redactor && ofStack) blankStaleTexts(target, segment.start, readBlocks);
      return redactor ? [withSurroundings(dump, target, bytesAt, limit)] : [];
    });
    if (redactor) redactMemory(kept, redactor);
    const hashed = v8?.texts.confirmed ?? [];
    pieces.forEach(({ segment }, i) => {
      forgetHashes(raw.subarray(layout.offsets[i]), segment, hashed);
    });
    pieces.forEach(({ segment }, i) => {
      const at = layout.offsets[i] ?? 0;
      clearUnread(raw.subarray(at, at + segment.fileSize), segment.start, touchedBlocks);
    });
    const bytes = to.endsWith('.gz') ? gzipSync(raw, { level: 9 }) : raw;
    writeNew(to, bytes);
    const memoryBytes = pieces.reduce((sum, { segment }) => sum + segment.fileSize, 0);
    const told = redactor ? redactAccount(account, redactor) : account;
    return { account: told, memoryBytes, rawBytes: raw.length, bytes: bytes.length };
  } finally {
    dump.close();
  }
}

/** Texts may have been redacted: their hashes, which fitted, would not fit any more. */
function forgetHashes(
  bytes: Uint8Array,
  { start, fileSize }: WrittenSegment,
  hashes: Iterable<number>,
): void {
  for (const address of hashes)
    for (let at = Math.max(address, start); at < address + 4 && at < start + fileSize; at++)
      bytes[at - start] = at === address ? emptyHash : 0;
}

/** Already redacted by the rules; redacted again with the secrets that the redactor has learnt. */
function startWords(account: Account, redactor: CoreRedactor | undefined): Buffer[] {
  const { process, environment } = account;
  if (!process?.argv || !environment?.variables) return [];
  const isTitle = account.gaps.includes(titleGap);
  const words: StartWords = {
    arguments: process.argv,
    variables: environment.variables,
    ...(isTitle && { isTitle }),
  };
  return [buildStartWordsNote(redactor ? redactWords(words, redactor) : words)];
}

function buildSurvey(account: Account, redactor: CoreRedactor | undefined): SurveyRecord {
  const missed = account.gaps.filter(({ part }) => part === surveyPart);
  const timers = account.environment?.handles?.filter(({ kind }) => /^set(?:Timeout|Interval)$/.test(kind));
  const survey: SurveyRecord = {
    suspended: account.suspended ?? [],
    classes: account.memory?.classes ?? [],
    ...(timers && timers.length > 0 && { timers }),
    ...(missed.length > 0 && { gaps: missed }),
  };
  return redactor ? (redactor.value(survey, surveyLimits) as SurveyRecord) : survey;
}

/** The lookups in the modules' files. */
function buildModulesNote({ modules }: CoreDump): Buffer {
  const records = modules.modules.flatMap(({ code }) => (code instanceof RecordingCode ? [code.record] : []));
  return buildNote(OWN_NOTE, OWN_MODULE_RECORDS, Buffer.from(JSON.stringify(records)));
}

/** High enough for every survey, whose size is already limited. */
const surveyLimits = { maxDepth: 20, maxEntries: 1_000_000 };
/** How many bytes beside kept memory are read to recognise secrets that cross its edges, as far as they are text. */
const widestSurroundings = 4096;

/** `limit`: the range of file offsets that the segment has bytes for. */
function withSurroundings(
  { core }: CoreDump,
  target: Uint8Array,
  bytesAt: number,
  [first, last]: Piece['limit'],
): KeptBytes {
  const from = Math.max(first, bytesAt - widestSurroundings);
  const to = Math.min(last, bytesAt + target.length + widestSurroundings);
  const around = Buffer.alloc(to - from);
  core.source.readInto(around, from);
  let start = bytesAt - from;
  let end = start + target.length;
  // Two-byte text contains zeros too, but never two in a row.
  while (start > 0 && (around[start - 1] !== 0 || around[start] !== 0)) start--;
  while (end < around.length && (around[end] !== 0 || around[end - 1] !== 0)) end++;
  return { target, window: around.subarray(start, end), offset: bytesAt - from - start };
}

/** Memory may contain secrets: the file is only readable by its owner, and never overwrites another. */
function writeNew(path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new AgentdumpError('unwritable', `cannot write ${path}`, { path, reason: 'exists' }, error);
  }
}

/** Stacks are kept in whole pages, as other tools expect; the heap in the blocks that were read. */
function addStacks({ core, memory }: CoreDump, blocks: Set<number>): void {
  for (const { stackPointer: sp } of core.threads) {
    const extent = memory.findExtent(sp);
    if (!extent) continue;
    addRange(blocks, Math.max(extent.start, sp - bytesBelow), Math.min(extent.end, sp + bytesAbove));
  }
  const whole = core.segments.filter((s) => isPageGrained(s, core));
  const headers = core.segments.filter((s) => isFileHeader(s, core));
  const isIn = (list: CoreSegment[], address: number) =>
    list.some((s) => address >= s.start && address < s.end);
  for (const block of [...blocks]) {
    const address = block * touchBlockBytes;
    const page = address - (address % pageSize);
    if (isIn(whole, address)) addRange(blocks, page, page + pageSize);
    else if (isIn(headers, address)) addRange(blocks, page, page + headerBytes);
  }
}

/** Numbers of the blocks to keep, sorted. */
function keptBlocks(touched: ReadonlySet<number>): number[] {
  const ratio = keptBlockBytes / touchBlockBytes;
  const kept = new Set<number>();
  for (const block of touched) kept.add(Math.floor(block / ratio));
  return [...kept].sort((a, b) => a - b);
}

/** Unread memory beside a value is useless, may be secret, and doesn't compress. */
function clearUnread(bytes: Uint8Array, start: number, touched: ReadonlySet<number>): void {
  for (let at = 0; at < bytes.length; ) {
    const block = Math.floor((start + at) / touchBlockBytes);
    const next = (block + 1) * touchBlockBytes - start;
    if (!touched.has(block)) bytes.fill(0, at, next);
    at = next;
  }
}

/** Stacks and the vDSO. */
function isPageGrained(segment: CoreSegment, core: CoreFile): boolean {
  const { fileSize, writable, executable } = segment;
  return isStack(segment, core) || (!writable && fileSize > 0 && executable && !isFileHeader(segment, core));
}

function isStack({ start, end }: CoreSegment, { threads }: CoreFile): boolean {
  return threads.some(({ stackPointer: sp }) => sp >= start && sp < end);
}

/** Of mapped files a core contains only the page with their headers. */
function isFileHeader({ start, fileSize, writable }: CoreSegment, { files }: CoreFile): boolean {
  return !writable && fileSize > 0 && files.some((f) => start >= f.start && start < f.end);
}

function addRange(blocks: Set<number>, start: number, end: number): void {
  for (let block = Math.floor(start / touchBlockBytes); block * touchBlockBytes < end; block++)
    blocks.add(block);
}

interface Piece {
  segment: WrittenSegment;
  /** Offset of its bytes in the full core. */
  bytesAt: number;
  /** The range of file offsets that its segment has bytes for. */
  limit: [number, number];
  ofStack: boolean;
}

/**
 * Splits a segment into runs of kept blocks and mappings without bytes. `blocks` is sorted. In each run, bytes from the core
 * come before bytes read from the modules' files.
 */
function splitSegment(segment: CoreSegment, blocks: number[], { core, memory }: CoreDump): Piece[] {
  const { start, end, fileSize, fileOffset, readable, writable, executable } = segment;
  const flags = { readable, writable, executable };
  const limit = start + fileSize;
  const ofStack = isStack(segment, core);
  const piece = (from: number, to: number, isKept: boolean): Piece => ({
    segment: { start: from, memorySize: to - from, fileSize: isKept ? to - from : 0, ...flags },
    bytesAt: fileOffset + (from - start),
    limit: [fileOffset, fileOffset + fileSize],
    ofStack,
  });
  const pieces: Piece[] = [];
  let at = start;
  for (let i = firstFrom(blocks, start); i < blocks.length; i++) {
    const from = Math.max(at, (blocks[i] as number) * keptBlockBytes);
    if (from >= end) break;
    while (blocks[i + 1] === (blocks[i] as number) + 1) i++;
    const last = Math.min(((blocks[i] as number) + 1) * keptBlockBytes, end);
    const to = from < limit ? Math.min(last, limit) : last;
    if (from >= limit && !memory.has(from, to - from)) continue;
    // The run continues after the bytes that the core has.
    if (to < last) i = firstFrom(blocks, to) - 1;
    if (from > at) pieces.push(piece(at, from, false));
    pieces.push(piece(from, to, true));
    at = to;
  }
  if (at < end) pieces.push(piece(at, end, false));
  return pieces;
}

/** Index of the first block that ends after the address. */
function firstFrom(blocks: number[], address: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (((blocks[middle] as number) + 1) * keptBlockBytes > address) high = middle;
    else low = middle + 1;
  }
  return low;
}
