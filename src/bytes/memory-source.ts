/** A range of process memory as a byte source, for objects that exist only there (the vDSO, an ELF header). */
import type { ByteSource } from './byte-source.ts';
import type { MemoryReader } from './memory.ts';

/** A read that includes absent memory returns 0, like one at the end of the source. */
export function memorySource(memory: MemoryReader, address: number, size: number): ByteSource {
  return {
    size,
    readInto(target, offset) {
      const length = Math.min(target.length, size - offset);
      if (length <= 0 || !memory.has(address + offset, length)) return 0;
      target.set(memory.readBytes(address + offset, length));
      return length;
    },
  };
}
