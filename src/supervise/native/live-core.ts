/**
 * Writes a core of a living process, in plain JavaScript: stops it (SIGSTOP), copies its private memory, and resumes it.
 * Requires access to /proc/PID/mem: the same user without a Yama restriction, an ancestor, or root. Without ptrace only the
 * stack pointer and the program counter are known. Other registers are zero; readers find the frame pointer on the stack.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { AgentdumpError } from '../../errors.ts';
import {
  buildAuxiliaryNote,
  buildFilesNote,
  buildProcessNote,
  buildSignalNote,
  buildThreadNote,
  layOutCore,
  type WrittenSegment,
} from '../../formats/elf-core/write-core.ts';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { type CoreInMemory, makeBlock } from './copied-memory.ts';
import { guardStop } from './guard-stop.ts';
import type { HeldThread } from './held-thread.ts';
import {
  type LiveThread,
  type Mapping,
  openMemory,
  Pagemap,
  readMappings,
  readOwnBytes,
  readParent,
  readState,
  readThreads,
  resume,
  stop,
} from './live-process.ts';

export interface LiveCore extends MemoryCopy {
  path: string;
  tookMs: number;
}

export interface MemoryCopy {
  /** Memory that was copied. */
  bytes: number;
  /** Memory that was left out because of the limit. */
  leftOutBytes: number;
  /** How long the process was stopped. */
  pauseMs: number;
  threads: number;
  /** Something else resumed the process during the copy, so that it is of no single moment. */
  wasResumed: boolean;
  /** What could not be read. */
  gaps: string[];
}

/** Takes what is not kept in memory, while the process is stopped. */
export interface CopyTarget {
  /** Up to this much is kept in memory during the pause. */
  bufferedBytes: number;
  write(bytes: Uint8Array, offset: number): void;
}

export interface LiveCoreOptions {
  /** Limit of the memory to copy. The largest mappings are left out, which is recorded as a gap. */
  maxBytes?: number;
  /** The thread that is held at its fault; its signal is recorded as the cause of death. */
  held?: HeldThread;
}

const pageSize = 4096;
const chunkBytes = 4 << 20;
const defaultMaxBytes = 4 * 2 ** 30;
/** Up to this much is kept in memory if the copy goes to a file. */
export const bufferedBytes = 256 << 20;
/** Small, because a block is given back as a whole. */
const blockBytes = 16 << 20;
/** Beyond the memory that the process had before it was stopped. */
const spareShare = 0.02;
const shared = Buffer.allocUnsafeSlow(chunkBytes);

interface Piece {
  segment: WrittenSegment;
  /** Address ranges that are copied. */
  runs: [number, number][];
}

/** Throws `not-found` if there is no such process, `unwritable` if its memory can't be read or the file can't be created. */
export function writeLiveCore(pid: number, path: string, options: LiveCoreOptions = {}): LiveCore {
  const began = performance.now();
  // Checked first, so that no file is created if the process can't be read.
  closeSync(openMemory(pid));
  const file = openTarget(path);
  try {
    const write = (bytes: Uint8Array, offset: number) => writeWhole(file, bytes, offset);
    const { kept, size, ...copy } = copyMemory(pid, options, { bufferedBytes, write });
    for (const { bytes, offset } of kept) write(bytes, offset);
    ftruncateSync(file, size);
    return { path, ...copy, tookMs: performance.now() - began };
  } finally {
    closeSync(file);
  }
}

/**
 * Keeps the copy in memory: all of it, or, if there is a target, what it wants to have buffered, while the rest is written to
 * it immediately. Throws like `writeLiveCore`.
 */
export function copyMemory(
  pid: number,
  options: LiveCoreOptions,
  target?: CopyTarget,
): MemoryCopy & CoreInMemory {
  const gaps: string[] = [];
  const kept: CoreInMemory['kept'] = [];
  const memory = openMemory(pid);
  const wasStopped = readState(pid, pid) === 'T';
  // A process that is held at its fault already has a guard.
  const dismiss = wasStopped || options.held ? () => {} : guardStop(pid);
  const arena = new Arena(readOwnBytes(pid), target?.bufferedBytes);
  rehearse(pid, memory);
  const stoppedAt = performance.now();
  try {
    if (!wasStopped) stop(pid, gaps);
    const { pieces, notes, threads, leftOutBytes } = describe(pid, options, gaps);
    const layOut = () =>
      layOutCore(
        pieces.map((p) => p.segment),
        notes,
      );
    // What stays in memory gets its place in the core after the pause.
    const early = target && layOut();
    const found: { bytes: Buffer; at: number; piece: number }[] = [];
    for (const [i, piece] of pieces.entries())
      for (const { bytes, at, isKept } of readRuns(memory, piece, arena)) {
        if (isKept) found.push({ bytes, at, piece: i });
        else target?.write(bytes, early!.offsets[i]! + at);
      }
    const wasResumed = readState(pid, pid) !== 'T';
    if (wasResumed) gaps.push('the process was resumed while its memory was copied');
    if (!wasStopped) process.kill(pid, signals.goOn);
    const pauseMs = performance.now() - stoppedAt;
    const { offsets, head, size } = early ?? layOut();
    kept.push({ bytes: head, offset: 0 });
    for (const { bytes, at, piece } of found) keep(kept, bytes, offsets[piece]! + at);
    const bytes = pieces.reduce((sum, piece) => sum + sizeOf(piece), 0);
    return { bytes, leftOutBytes, pauseMs, threads, wasResumed, gaps, kept, size };
  } finally {
    if (!wasStopped) resume(pid);
    dismiss();
    closeSync(memory);
  }
}

/**
 * Does what will be done while the process is stopped, without keeping it: code that runs for the first time takes several times
 * as long. What can't be read now is found out later.
 */
function rehearse(pid: number, memory: number): void {
  try {
    const { pieces, notes } = describe(pid, {}, []);
    layOutCore(
      pieces.map((piece) => piece.segment),
      notes,
    );
    const onePage = { take: () => shared.subarray(0, pageSize) };
    for (const { segment, runs } of pieces) {
      const firstPages = runs.map(([start]): [number, number] => [start, start + pageSize]);
      for (const { bytes, at } of readRuns(memory, { segment, runs: firstPages }, onePage))
        keep([], bytes, at);
    }
  } catch {}
}

/** Merges pieces that are contiguous both in the core and in our memory. */
export function keep(kept: CoreInMemory['kept'], bytes: Uint8Array, offset: number): void {
  const last = kept.at(-1);
  const follows =
    last !== undefined &&
    last.bytes.buffer === bytes.buffer &&
    last.offset + last.bytes.length === offset &&
    last.bytes.byteOffset + last.bytes.length === bytes.byteOffset;
  if (follows)
    last.bytes = new Uint8Array(bytes.buffer, last.bytes.byteOffset, last.bytes.length + bytes.length);
  else kept.push({ bytes, offset });
}

/** On a nearly full file system write() is partial, and only the next one fails. */
export function writeWhole(file: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(file, bytes, done, bytes.length - done, offset + done);
}

/** Memory may contain secrets, so only the owner can read the file. An existing file is never replaced. */
function openTarget(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw new AgentdumpError('unwritable', `cannot write ${path}`, { path, reason: 'exists' }, error);
  }
}

function describe(
  pid: number,
  { maxBytes = defaultMaxBytes, held }: LiveCoreOptions,
  gaps: string[],
): { pieces: Piece[]; notes: Buffer; threads: number; leftOutBytes: number } {
  const mappings = readMappings(pid);
  const pagemap = new Pagemap(pid);
  const { threads } = readThreads(pid);
  const pieces = mappings
    .filter((m) => !m.path.startsWith('[vvar'))
    .flatMap((m) => describeMapping(m, pagemap));
  pagemap.close();
  const leftOutBytes = leaveOut(
    pieces,
    threads.map(({ stackPointer }) => Number(stackPointer)),
    maxBytes,
    gaps,
  );
  const files = mappings.filter((m) => m.path.startsWith('/') && !m.path.endsWith(' (deleted)'));
  const args = readFileSync(platform.processPath(pid, 'cmdline'), 'latin1').replaceAll('\0', ' ').trim();
  const program = (platform.processLink(pid, 'exe') ?? '').split('/').at(-1) ?? '';
  const notes = Buffer.concat([
    ...buildThreadNotes(pid, threads, held),
    buildProcessNote(pid, readParent(pid), program, args),
    buildAuxiliaryNote(readFileSync(platform.processPath(pid, 'auxv'))),
    buildFilesNote(files),
  ]);
  return { pieces, notes, threads: threads.length, leftOutBytes };
}

const userSegments = { cs: 0x33n, ss: 0x2bn };

/** In the kernel's order: the thread that died comes first, and its signal follows its registers. */
function buildThreadNotes(pid: number, threads: LiveThread[], held: HeldThread | undefined): Buffer[] {
  const others = threads
    .filter(({ tid }) => tid !== held?.tid)
    .map((t) => buildThreadNote(t.tid, pid, { rip: t.programCounter, rsp: t.stackPointer, ...userSegments }));
  if (!held) return others;
  const { tid, registers, signal, code, address } = held;
  const died = buildThreadNote(tid, pid, { ...registers, ...userSegments }, signal);
  return [died, buildSignalNote(signal, code, address), ...others];
}

/**
 * Anonymous memory is one segment, with holes for untouched pages. Of a mapped file only modified pages are copied, and the
 * first page, which has the build id; the rest can be read from the file.
 */
function describeMapping(mapping: Mapping, pagemap: Pagemap): Piece[] {
  const { start, end, readable, writable, executable } = mapping;
  const flags = { readable, writable, executable };
  const segment = (from: number, to: number, fileSize: number): WrittenSegment => ({
    start: from,
    memorySize: to - from,
    fileSize,
    ...flags,
  });
  if (!readable || mapping.isShared) return [{ segment: segment(start, end, 0), runs: [] }];
  if (mapping.path === '[vdso]') return [{ segment: segment(start, end, end - start), runs: [[start, end]] }];
  const runs = pagemap.ownRuns(mapping);
  if (!mapping.path.startsWith('/')) {
    const last = runs.at(-1)?.[1] ?? start;
    return [{ segment: segment(start, end, last - start), runs }];
  }
  if (mapping.fileOffset === 0 && runs[0]?.[0] !== start) runs.unshift([start, start + pageSize]);
  return splitByRuns(mapping, runs, segment);
}

function splitByRuns(
  { start, end }: Mapping,
  runs: [number, number][],
  segment: (from: number, to: number, fileSize: number) => WrittenSegment,
): Piece[] {
  const pieces: Piece[] = [];
  let at = start;
  for (const [from, to] of runs) {
    if (from > at) pieces.push({ segment: segment(at, from, 0), runs: [] });
    pieces.push({ segment: segment(from, to, to - from), runs: [[from, to]] });
    at = to;
  }
  if (at < end) pieces.push({ segment: segment(at, end, 0), runs: [] });
  return pieces;
}

const sizeOf = ({ runs }: Piece): number => runs.reduce((sum, [from, to]) => sum + to - from, 0);

/**
 * Leaves out the largest mappings until the rest fits. Thread stacks are the last to be left out, because analysis needs them
 * most. Returns the number of bytes left out.
 */
function leaveOut(pieces: Piece[], stackPointers: number[], maxBytes: number, gaps: string[]): number {
  const rows = pieces.map((piece) => {
    const { start, memorySize } = piece.segment;
    const isStack = stackPointers.some((sp) => sp >= start && sp < start + memorySize);
    return { piece, size: sizeOf(piece), isStack };
  });
  rows.sort((a, b) => Number(a.isStack) - Number(b.isStack) || b.size - a.size);
  const all = rows.reduce((sum, { size }) => sum + size, 0);
  let total = all;
  const leftOut: Piece[] = [];
  for (const { piece, size } of rows) {
    if (total <= maxBytes) break;
    if (size === 0) continue;
    total -= size;
    leftOut.push(piece);
  }
  if (leftOut.length > 0) gaps.push(describeLeftOut(leftOut, all - total, maxBytes));
  for (const piece of leftOut) {
    piece.segment.fileSize = 0;
    piece.runs = [];
  }
  return all - total;
}

function describeLeftOut(pieces: Piece[], bytes: number, maxBytes: number): string {
  const [first] = pieces;
  const where = `${pieces.length} mappings, the first at 0x${first?.segment.start.toString(16)}`;
  return `${bytes} bytes of memory (${where}) were left out: over the limit of ${Math.floor(maxBytes)}`;
}

/** Chunks with their offsets in the segment. A chunk with `isKept` false is overwritten by the next one. */
function* readRuns(
  memory: number,
  { segment, runs }: Piece,
  arena: Pick<Arena, 'take'>,
): Generator<{ bytes: Buffer; at: number; isKept: boolean }> {
  for (const [start, end] of runs)
    for (let at = start; at < end; ) {
      const wanted = Math.min(chunkBytes, end - at);
      const room = arena.take(wanted);
      const got = readChunk(memory, room ?? shared, room?.length ?? wanted, at);
      if (got > 0)
        yield {
          bytes: (room ?? shared).subarray(0, got),
          at: at - segment.start,
          isKept: room !== undefined,
        };
      // A page that can't be read (a device, a truncated file) stays a hole.
      at += got > 0 ? got : pageSize;
    }
}

/**
 * Memory for the copy, allocated and touched before the process is stopped: the page faults of 200 MB would double the pause.
 * When it is used up, `take` returns undefined, or allocates more if everything is to be kept in memory.
 */
export class Arena {
  readonly #blocks: Buffer[] = [];
  readonly #takesAll: boolean;
  #used = 0;

  /** Without `mostBytes` it has no limit. */
  constructor(expected: number, mostBytes?: number) {
    this.#takesAll = mostBytes === undefined;
    const wanted = Math.ceil(expected * (1 + spareShare)) + chunkBytes;
    let left = Math.min(mostBytes ?? wanted, wanted);
    for (; left > 0; left -= blockBytes) this.#blocks.push(makeBlock(Math.min(blockBytes, left)).fill(0));
  }

  /** At most `length` bytes: fewer at the end of a block. */
  take(length: number): Buffer | undefined {
    const [block] = this.#blocks;
    if (!block) return this.#takesAll ? makeBlock(length) : undefined;
    const taken = block.subarray(this.#used, this.#used + length);
    this.#used += taken.length;
    if (this.#used === block.length) {
      this.#blocks.shift();
      this.#used = 0;
    }
    return taken;
  }
}

/** Returns 0 if the range is unreadable. Throws `not-found` if the process has ended. */
function readChunk(memory: number, chunk: Buffer, length: number, address: number): number {
  let got = 0;
  try {
    got = readSync(memory, chunk, 0, length, address);
  } catch {
    return 0;
  }
  if (got === 0) throw new AgentdumpError('not-found', 'the process ended while its memory was read', {});
  return got;
}
