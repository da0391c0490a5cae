/** Notes of an ELF object: (owner, type, descriptor) triples, padded to 4 bytes. One of them is the build id. */
import { type ByteSource, readExactly } from '../../bytes/byte-source.ts';
import type { ElfFile } from './elf-file.ts';
import { NT_GNU_BUILD_ID, PT_NOTE } from './layout.ts';

/** The notes of a library have some hundred bytes. */
const maxNoteBytes = 1 << 20;

/** Lower-case hexadecimal; undefined if the object has none or its notes are out of reach. */
export function findBuildId(
  file: ElfFile,
  offsetOf = (s: { offset: number; virtualAddress: number }) => s.offset,
) {
  for (const segment of file.segments) {
    if (segment.type !== PT_NOTE) continue;
    const id = findBuildIdNote(file.source, offsetOf(segment), segment.fileSize);
    if (id) return id;
  }
  return undefined;
}

function findBuildIdNote(source: ByteSource, offset: number, size: number): string | undefined {
  if (size > maxNoteBytes || offset + size > source.size) return undefined;
  const bytes = Buffer.from(readExactly(source, offset, size, { format: 'elf', field: 'notes' }));
  for (let at = 0; at + 12 <= bytes.length; ) {
    const nameSize = bytes.readUInt32LE(at);
    const descSize = bytes.readUInt32LE(at + 4);
    const type = bytes.readUInt32LE(at + 8);
    const desc = at + 12 + align4(nameSize);
    if (desc + descSize > bytes.length) return undefined;
    if (type === NT_GNU_BUILD_ID && bytes.toString('latin1', at + 12, at + 16) === 'GNU\0')
      return bytes.toString('hex', desc, desc + descSize);
    at = desc + align4(descSize);
  }
  return undefined;
}

const align4 = (n: number) => Math.ceil(n / 4) * 4;
