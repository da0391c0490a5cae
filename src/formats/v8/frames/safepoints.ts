/**
 * The table behind the instructions of optimised code that says, for each call that may deoptimise, which
 * deoptimisation entry belongs to its return address. Source: src/codegen/safepoint-table.h of V8.
 */
import type { MemoryReader } from '../../../bytes/memory.ts';

export interface SafepointTable {
  /** Address of the table. */
  start: number;
  /** Of the header's part that both kinds have; its last eight bytes are count and configuration. */
  headerBytes: number;
  /** Maglev's tables have more numbers in the header, and one more byte a row. */
  isMaglev: boolean;
  /** Of the code before the table, against which it is checked. */
  instructionSize: number;
}

const maxRows = 1 << 20;
/** In all lines: two numbers more than the common part until V8 12, one more since that part has three. */
const maglevHeaderBytes = 16;
/** The call is in the table, and cannot deoptimise. */
export const noDeoptimization = -1;

/**
 * A call whose code was marked for deoptimisation returns to its trampoline instead. `noDeoptimization` for a call that
 * cannot; undefined where the table makes no sense or lacks the call, since every call of optimised code is in it.
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
    // A mini core has the rows only as far as they were read: without the bits of the registers that end the last one.
    if (!memory.has(at, readSize)) return undefined;
    const pc = read(at, pcSize);
    if (pc <= previous || pc > instructionSize) return undefined;
    previous = pc;
    // Index and trampoline are stored plus one: zero says that there is none.
    const index = read(at + pcSize, indexSize) - 1;
    const trampoline = read(at + pcSize + indexSize, pcSize) - 1;
    if (index >= 0 && (pc === returnOffset || trampoline === returnOffset)) return index;
    if (pc === returnOffset) return noDeoptimization;
  }
  return undefined;
}
