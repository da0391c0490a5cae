/**
 * The safepoint table behind the instructions of optimised code. For each call that may deoptimise it contains the
 * deoptimisation entry of its return address. Source: src/codegen/safepoint-table.h of V8.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';

export interface SafepointTable {
  /** Address of the table. */
  start: number;
  /** Size of the header part that both kinds share; its last eight bytes are the count and the configuration. */
  headerBytes: number;
  /** Maglev's tables have more numbers in the header, and one more byte per row. */
  isMaglev: boolean;
  /** Size of the code before the table, used as a check. */
  instructionSize: number;
}

const maxRows = 1 << 20;
/** The same in every V8 line: 2 + 2 numbers up to V8 12, 3 + 1 numbers since then (the common part, then Maglev's own). */
const maglevHeaderBytes = 16;
/** The call is in the table but can't deoptimise. */
export const noDeoptimization = -1;

/**
 * A call whose code was marked for deoptimisation returns to its trampoline instead. Returns `noDeoptimization` for a call
 * that can't deoptimise; undefined if the table is inconsistent or lacks the call, because every call of optimised code has a
 * row.
 */
export function findDeoptimizationIndex(
  memory: MemoryReader,
  { start, headerBytes, isMaglev, instructionSize }: SafepointTable,
  returnOffset: number,
): number | undefined {
  const count = memory.readUint32(start + headerBytes - 8);
  const configuration = memory.readUint32(start + headerBytes - 4);
  const hasDeoptimization = (configuration & 1) !== 0;
  const registersSize = (configuration >> 1) & 7;
  const pcSize = (configuration >> 4) & 7;
  const indexSize = (configuration >> 7) & 7;
  const readSize = pcSize * 2 + indexSize;
  const rowSize = readSize + registersSize + (isMaglev ? 1 : 0);
  const rows = start + (isMaglev ? maglevHeaderBytes : headerBytes);
  if (!hasDeoptimization || pcSize < 1 || pcSize > 4 || indexSize > 4 || count > maxRows) return undefined;
  const read = (at: number, size: number) => {
    let value = 0;
    for (let i = 0; i < size; i++) value += memory.readUint8(at + i) * 256 ** i;
    return value;
  };
  let previous = -1;
  for (let row = 0; row < count; row++) {
    const at = rows + row * rowSize;
    // A mini core contains a row only as far as it was read: the register bits at the end of the last row are missing.
    if (!memory.has(at, readSize)) return undefined;
    const pc = read(at, pcSize);
    if (pc <= previous || pc > instructionSize) return undefined;
    previous = pc;
    // Index and trampoline are stored plus one: zero means none.
    const index = read(at + pcSize, indexSize) - 1;
    const trampoline = read(at + pcSize + indexSize, pcSize) - 1;
    if (index >= 0 && (pc === returnOffset || trampoline === returnOffset)) return index;
    if (pc === returnOffset) return noDeoptimization;
  }
  return undefined;
}
