/**
 * A Linux core file: the kernel's notes, and the memory that the file contains. Reads x86-64 and arm64; the error for other
 * machines names the machine. A truncated file is read as far as possible, and its problems are listed. Does not open the
 * modules that the process had mapped. Sources: layout.ts.
 */
import { type ByteSource, readExactly } from '../../bytes/byte-source.ts';
import { ByteCursor } from '../../bytes/cursor.ts';
import type { MemoryExtent } from '../../bytes/memory.ts';
import { MalformedInput } from '../../errors.ts';
import type { CoreFile } from './core-contents.ts';
import { readCoreNotes } from './core-notes.ts';
import { type CoreMachine, machines } from './layout.ts';

const format = 'elf-core';

/** Only the fields of an ELF header that a core needs, which keeps this format independent. */
interface Header {
  machine: CoreMachine;
  offset: number;
  count: number;
}

const machineNames: Record<number, string> = {
  3: 'x86',
  21: 'PowerPC',
  22: 'S/390',
  40: 'ARM',
  243: 'RISC-V',
};
const PT_LOAD = 1;
const PT_NOTE = 4;
const programHeaderSize = 56;
/** The notes of a process with a thousand threads are about 4 MB. */
const maxNoteBytes = 256 << 20;

export function readCore(source: ByteSource): CoreFile {
  const header = readHeader(source);
  const problems: string[] = [];
  const available = Math.floor(Math.max(0, source.size - header.offset) / programHeaderSize);
  const count = Math.min(header.count, available);
  if (count < header.count)
    problems.push(`the table of segments is cut off: ${count} of ${header.count} are there`);
  const name = { format, field: 'program headers' };
  const table = new ByteCursor(readExactly(source, header.offset, count * programHeaderSize, name), format);
  const core = {
    source,
    machine: header.machine,
    threads: [],
    segments: [],
    files: [],
    auxiliary: new Map(),
    own: new Map(),
    notes: new Uint8Array(),
    problems,
  };
  return readSegments(core, table, count);
}

function readHeader(source: ByteSource): Header {
  const head = new ByteCursor(readExactly(source, 0, 64, { format, field: 'header' }), format);
  const magic = head.u32('e_ident');
  if (magic !== 0x464c457f) throw head.error('e_ident', 0, 'an ELF file', 'another');
  if (head.u8('EI_CLASS') !== 2) throw head.error('EI_CLASS', 4, 'a 64-bit core', 'another');
  if (head.u8('EI_DATA') !== 1) throw head.error('EI_DATA', 5, 'little-endian bytes', 'others');
  head.position = 16;
  const type = head.u16('e_type');
  if (type !== 4) throw head.error('e_type', 16, 'a core file (4)', `${type}`);
  const machine = readMachine(head.u16('e_machine'));
  head.position = 32;
  const offset = head.size64('e_phoff');
  const sections = head.size64('e_shoff');
  head.position = 56;
  const count = head.u16('e_phnum');
  if (count !== 0xffff) return { machine, offset, count };
  const first = new ByteCursor(readExactly(source, sections, 64, { format, field: 'section 0' }), format, 44);
  return { machine, offset, count: first.u32('sh_info') };
}

function readMachine(number: number): CoreMachine {
  const found = (['x64', 'arm64'] as const).find((name) => machines[name].number === number);
  if (found) return found;
  throw new MalformedInput(
    `a core of ${machineNames[number] ?? `machine ${number}`}: only cores of x86-64 and arm64 can be read`,
    { format, field: 'e_machine', offset: 18, wanted: '62 or 183', available: `${number}` },
  );
}

function readSegments(core: CoreFile, table: ByteCursor, count: number): CoreFile {
  let cut = 0;
  let overlapping = 0;
  for (let i = 0; i < count; i++) {
    const type = table.u32('p_type');
    const flags = table.u32('p_flags');
    const [fileOffset, start, , fileSize, memorySize] = [0, 1, 2, 3, 4].map(() =>
      Number(table.u64('segment')),
    );
    table.position += 8;
    if (fileOffset === undefined || start === undefined || fileSize === undefined || !memorySize) {
      if (type === PT_NOTE) readNotes(core, fileOffset ?? 0, fileSize ?? 0);
      continue;
    }
    if (type === PT_NOTE) readNotes(core, fileOffset, fileSize);
    if (type !== PT_LOAD || start + memorySize > 2 ** 53) continue;
    const there = Math.max(0, Math.min(fileSize, memorySize, core.source.size - fileOffset));
    if (there < Math.min(fileSize, memorySize)) cut += Math.min(fileSize, memorySize) - there;
    core.segments.push({
      start,
      end: start + memorySize,
      readable: (flags & 4) !== 0,
      writable: (flags & 2) !== 0,
      executable: (flags & 1) !== 0,
      fileOffset,
      fileSize: there,
    });
  }
  core.segments.sort((a, b) => a.start - b.start);
  core.segments = core.segments.filter((segment, i, all) => {
    const previous = all[i - 1];
    const overlaps = previous !== undefined && previous.end > segment.start;
    if (overlaps) overlapping++;
    return !overlaps;
  });
  if (cut > 0) core.problems.push(`the file is cut off: ${cut} bytes of memory that it names are missing`);
  if (overlapping > 0) core.problems.push(`${overlapping} segments overlap others and were left out`);
  return core;
}

function readNotes(core: CoreFile, offset: number, size: number): void {
  const there = Math.max(0, Math.min(size, core.source.size - offset, maxNoteBytes));
  if (there < size) core.problems.push(`the notes are cut off: ${there} of ${size} bytes are there`);
  if (there === 0) return;
  const bytes = readExactly(core.source, offset, there, { format, field: 'notes' });
  core.notes = bytes;
  readCoreNotes(core, bytes);
}

/** The memory that the file contains. */
export function coreExtents(core: CoreFile): MemoryExtent[] {
  return core.segments
    .filter((s) => s.fileSize > 0)
    .map((s) => ({ start: s.start, end: s.start + s.fileSize, source: core.source, offset: s.fileOffset }));
}
