/**
 * An ELF object (executable, shared library, core): header, segments, sections, notes. Reads 64-bit little-endian files of
 * any machine, and reports the machine; contents are not interpreted. Source: System V ABI, elf(5).
 */
import { type ByteSource, readExactly } from '../../bytes/byte-source.ts';
import { ByteCursor } from '../../bytes/cursor.ts';
import { MalformedInput } from '../../errors.ts';
import * as elf from './layout.ts';

const format = 'elf';

export interface Segment {
  type: number;
  flags: number;
  /** Offset in the file; `fileSize` bytes are present. */
  offset: number;
  virtualAddress: number;
  fileSize: number;
  memorySize: number;
  align: number;
}

export interface Section {
  type: number;
  address: number;
  offset: number;
  size: number;
  /** Index of the string table that belongs to a symbol table. */
  link: number;
}

export interface ElfFile {
  source: ByteSource;
  type: number;
  machine: number;
  entry: number;
  segments: Segment[];
  /** Empty if the section table is absent or out of reach (a core, an object in memory). */
  sections: Section[];
}

/** Header and segments must be valid; a truncated section table is left out. */
export function readElf(source: ByteSource): ElfFile {
  const head = new ByteCursor(readExactly(source, 0, elf.EHDR_SIZE, { format, field: 'header' }), format);
  requireSupported(head);
  head.position = 16;
  const type = head.u16('e_type');
  const machine = head.u16('e_machine');
  head.position = 24;
  const entry = head.size64('e_entry');
  const programHeaders = head.size64('e_phoff');
  const sectionHeaders = head.size64('e_shoff');
  head.position = 54;
  const entrySize = head.u16('e_phentsize');
  const programCount = head.u16('e_phnum');
  head.position = 60;
  const sectionCount = head.u16('e_shnum');
  if (programCount > 0 && entrySize !== elf.PHDR_SIZE)
    throw head.error('e_phentsize', 54, `${elf.PHDR_SIZE}`, `${entrySize}`);
  const count = programCount === elf.PN_XNUM ? readExtendedCount(source, sectionHeaders) : programCount;
  const sections = type === elf.ET_CORE ? [] : findSections(source, sectionHeaders, sectionCount);
  return { source, type, machine, entry, segments: readSegments(source, programHeaders, count), sections };
}

function requireSupported(head: ByteCursor): void {
  if (head.u32('e_ident') !== elf.ELF_MAGIC)
    throw head.error('e_ident', 0, 'the bytes 7f 45 4c 46', 'others');
  const elfClass = head.u8('EI_CLASS');
  if (elfClass !== elf.ELFCLASS64) throw head.error('EI_CLASS', 4, 'a 64-bit file', `class ${elfClass}`);
  const order = head.u8('EI_DATA');
  if (order !== elf.ELFDATA2LSB) throw head.error('EI_DATA', 5, 'little-endian bytes', `order ${order}`);
}

/** With 65,535 segments or more, the first section header contains the count. */
function readExtendedCount(source: ByteSource, sectionHeaders: number): number {
  const name = { format, field: 'section header 0' };
  return new ByteCursor(readExactly(source, sectionHeaders, elf.SHDR_SIZE, name), format, 44).u32('sh_info');
}

function readSegments(source: ByteSource, offset: number, count: number): Segment[] {
  const name = { format, field: 'program headers' };
  const cursor = new ByteCursor(readExactly(source, offset, count * elf.PHDR_SIZE, name), format);
  const segments: Segment[] = [];
  for (let i = 0; i < count; i++) {
    const type = cursor.u32('p_type');
    const flags = cursor.u32('p_flags');
    const start = cursor.u64('p_offset');
    const virtualAddress = cursor.u64('p_vaddr');
    cursor.position += 8;
    const fileSize = cursor.u64('p_filesz');
    const memorySize = cursor.u64('p_memsz');
    const align = cursor.u64('p_align');
    // The vsyscall page is in the kernel's half of the address space, and contains no data.
    if (virtualAddress > 2n ** 53n) continue;
    for (const value of [start, fileSize, memorySize])
      if (value > 2n ** 53n)
        throw new MalformedInput(`${format}: segment ${i} is larger than any file`, {
          ...name,
          offset: offset + i * elf.PHDR_SIZE,
        });
    segments.push({
      type,
      flags,
      offset: Number(start),
      virtualAddress: Number(virtualAddress),
      fileSize: Number(fileSize),
      memorySize: Number(memorySize),
      align: Number(align),
    });
  }
  return segments;
}

function findSections(source: ByteSource, offset: number, count: number): Section[] {
  if (offset === 0 || count === 0 || offset + count * elf.SHDR_SIZE > source.size) return [];
  const bytes = readExactly(source, offset, count * elf.SHDR_SIZE, { format, field: 'section headers' });
  const sections: Section[] = [];
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += elf.SHDR_SIZE)
    sections.push({
      type: view.getUint32(at + 4, true),
      address: Number(view.getBigUint64(at + 16, true)),
      offset: Number(view.getBigUint64(at + 24, true)),
      size: Number(view.getBigUint64(at + 32, true)),
      link: view.getUint32(at + 40, true),
    });
  return sections;
}

/** Maps an offset in the file to a link-time address, if a loaded segment contains it. */
export function findVirtualAddress(
  file: { readonly segments: readonly Segment[] },
  offset: number,
): number | undefined {
  for (const s of file.segments)
    if (s.type === elf.PT_LOAD && offset >= s.offset && offset < s.offset + s.fileSize)
      return s.virtualAddress + (offset - s.offset);
  return undefined;
}

/** Maps a link-time address to an offset in the file. */
export function findFileOffset(file: { segments: readonly Segment[] }, address: number): number | undefined {
  for (const s of file.segments)
    if (s.type === elf.PT_LOAD && address >= s.virtualAddress && address < s.virtualAddress + s.fileSize)
      return s.offset + (address - s.virtualAddress);
  return undefined;
}
