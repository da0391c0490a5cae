/**
 * Creates the layout of a Linux core file: header, segment table, notes. The caller copies the memory itself. gdb, eu-stack
 * and our own reader accept the result. The notes segment must be aligned to 4, otherwise binutils does not recognise the
 * file as a core. The writing half of this format; it reads nothing. Sources: layout.ts, elf(5).
 */
import { AgentdumpError } from '../../errors.ts';
import {
  type CoreMachine,
  machines,
  NT_AUXV,
  NT_FILE,
  NT_PRPSINFO,
  NT_PRSTATUS,
  NT_SIGINFO,
  PR_CURSIG,
  PRPSINFO_SIZE,
  PRSTATUS_SIZE,
  SI_ADDR,
  SI_CODE,
  x64Registers,
} from './layout.ts';

export interface WrittenSegment {
  start: number;
  /** Size of the mapping in bytes; the first `fileSize` of them are in the file. */
  memorySize: number;
  fileSize: number;
  readable: boolean;
  writable: boolean;
  executable: boolean;
}

export interface CoreLayout {
  /** Header, segment table and notes: the first bytes of the file. */
  head: Buffer;
  /** File offset of each segment's bytes. */
  offsets: number[];
  /** Size of the whole file. */
  size: number;
}

const headerSize = 64;
const programHeaderSize = 56;
const pageSize = 4096;
/** siginfo_t. */
const SIGINFO_SIZE = 128;
/** For segments smaller than a page. */
const smallAlign = 8;
/** A larger number would need the extended count; no process with a sane memory map has that many. */
const maxSegments = 65_000;

export function layOutCore(
  segments: readonly WrittenSegment[],
  notes: Uint8Array,
  machine: CoreMachine = 'x64',
): CoreLayout {
  if (segments.length > maxSegments)
    throw new AgentdumpError('over-limit', `${segments.length} segments do not fit a core`, {
      limit: 'segments',
      wanted: segments.length,
      allowed: maxSegments,
    });
  const notesAt = headerSize + (segments.length + 1) * programHeaderSize;
  const head = Buffer.alloc(notesAt + notes.length);
  writeHeader(head, segments.length + 1, machine);
  writeProgramHeader(head, headerSize, 4, 0, notesAt, 0, notes.length, 0, 4);
  let offset = head.length;
  const offsets = segments.map((segment, i) => {
    const { start, fileSize, memorySize } = segment;
    const align = start % pageSize === 0 && fileSize % pageSize === 0 ? pageSize : smallAlign;
    const at = Math.ceil(offset / align) * align;
    const flags = (segment.readable ? 4 : 0) | (segment.writable ? 2 : 0) | (segment.executable ? 1 : 0);
    const place = headerSize + (i + 1) * programHeaderSize;
    writeProgramHeader(head, place, 1, flags, at, start, fileSize, memorySize, align);
    offset = at + fileSize;
    return at;
  });
  head.set(notes, notesAt);
  return { head, offsets, size: offset };
}

function writeHeader(head: Buffer, segments: number, machine: CoreMachine): void {
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  head.writeUInt16LE(4, 16);
  head.writeUInt16LE(machines[machine].number, 18);
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(BigInt(headerSize), 32);
  head.writeUInt16LE(headerSize, 52);
  head.writeUInt16LE(programHeaderSize, 54);
  head.writeUInt16LE(segments, 56);
}

function writeProgramHeader(
  head: Buffer,
  at: number,
  type: number,
  flags: number,
  offset: number,
  address: number,
  fileSize: number,
  memorySize: number,
  align: number,
): void {
  head.writeUInt32LE(type, at);
  head.writeUInt32LE(flags, at + 4);
  [offset, address, 0, fileSize, memorySize, align].forEach((value, i) => {
    head.writeBigUInt64LE(BigInt(value), at + 8 + i * 8);
  });
}

const pad4 = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);

export function buildNote(owner: string, type: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(12);
  const name = Buffer.from(`${owner}\0`);
  head.writeUInt32LE(name.length, 0);
  head.writeUInt32LE(bytes.length, 4);
  head.writeUInt32LE(type, 8);
  return Buffer.concat([head, pad4(name), pad4(bytes)]);
}

/** For x86-64. Unknown registers are zero. */
export function buildThreadNote(
  tid: number,
  pid: number,
  registers: Partial<Record<(typeof x64Registers)[number], bigint>>,
  signal = 0,
): Buffer {
  const bytes = Buffer.alloc(PRSTATUS_SIZE);
  bytes.writeUInt16LE(signal, PR_CURSIG);
  bytes.writeUInt32LE(tid, 32);
  bytes.writeUInt32LE(pid, 36);
  x64Registers.forEach((name, i) => {
    bytes.writeBigUInt64LE(registers[name] ?? 0n, 112 + i * 8);
  });
  return buildNote('CORE', NT_PRSTATUS, bytes);
}

/** The signal that the process dies of. */
export function buildSignalNote(signal: number, code: number, address: bigint): Buffer {
  const bytes = Buffer.alloc(SIGINFO_SIZE);
  bytes.writeInt32LE(signal, 0);
  bytes.writeInt32LE(code, SI_CODE);
  bytes.writeBigUInt64LE(address, SI_ADDR);
  return buildNote('CORE', NT_SIGINFO, bytes);
}

export function buildProcessNote(pid: number, parentPid: number, program: string, args: string): Buffer {
  const bytes = Buffer.alloc(PRPSINFO_SIZE);
  bytes.writeUInt32LE(pid, 24);
  bytes.writeUInt32LE(parentPid, 28);
  bytes.write(program.slice(0, 15), 40);
  bytes.write(args.slice(0, 79), 56);
  return buildNote('CORE', NT_PRPSINFO, bytes);
}

export function buildAuxiliaryNote(auxiliary: Uint8Array): Buffer {
  return buildNote('CORE', NT_AUXV, auxiliary);
}

export function buildFilesNote(
  files: readonly { start: number; end: number; fileOffset: number; path: string }[],
): Buffer {
  const table = Buffer.alloc(16 + files.length * 24);
  table.writeBigUInt64LE(BigInt(files.length), 0);
  table.writeBigUInt64LE(BigInt(pageSize), 8);
  files.forEach((file, i) => {
    table.writeBigUInt64LE(BigInt(file.start), 16 + i * 24);
    table.writeBigUInt64LE(BigInt(file.end), 24 + i * 24);
    table.writeBigUInt64LE(BigInt(file.fileOffset / pageSize), 32 + i * 24);
  });
  const names = Buffer.from(files.map(({ path }) => `${path}\0`).join(''));
  return buildNote('CORE', NT_FILE, Buffer.concat([table, names]));
}
