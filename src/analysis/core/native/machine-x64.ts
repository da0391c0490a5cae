/** x86-64 for the unwinder. Source: System V psABI x86-64, table 3.36. */
import type { X64Register } from '../../../formats/elf-core/layout.ts';
import type { Machine } from './machine.ts';

const dwarfNumbers: [X64Register, number][] = [
  ['rax', 0],
  ['rdx', 1],
  ['rcx', 2],
  ['rbx', 3],
  ['rsi', 4],
  ['rdi', 5],
  ['rbp', 6],
  ['rsp', 7],
  ['r8', 8],
  ['r9', 9],
  ['r10', 10],
  ['r11', 11],
  ['r12', 12],
  ['r13', 13],
  ['r14', 14],
  ['r15', 15],
  ['rip', 16],
];

/** `call` with a 32-bit displacement. */
const CALL = 0xe8;
const callBytes = 5;

/** FF /2 with a register or memory operand; prefixes before it don't matter. */
const CALL_INDIRECT = 0xff;
const longestCall = 7;

/** Length of the indirect call with this ModRM byte; 0 for any other instruction. */
function indirectCallBytes(modRm: number): number {
  if (((modRm >> 3) & 7) !== 2) return 0;
  const [mode, register] = [modRm >> 6, modRm & 7];
  if (mode === 3) return 2;
  const scaled = register === 4 ? 1 : 0;
  if (mode === 0) return register === 5 ? 6 : 2 + scaled;
  return (mode === 1 ? 3 : 6) + scaled;
}

function endsInCall(code: Uint8Array): boolean {
  const { length } = code;
  if (code[length - callBytes] === CALL) return true;
  for (let bytes = 2; bytes <= longestCall; bytes++)
    if (code[length - bytes] === CALL_INDIRECT && indirectCallBytes(code[length - bytes + 1] ?? 0) === bytes)
      return true;
  return false;
}

export const x64: Machine = {
  programCounter: 16,
  stackPointer: 7,
  framePointer: 6,
  interpreterOffset: 9,
  stopsBehindBreakpoint: true,
  registersOf: ({ registers }) => {
    const known = dwarfNumbers.filter(([name]) => registers[name] !== 0n);
    // A core taken without ptrace has only two registers. Otherwise zeros are real values.
    const isPartial = known.every(([name]) => name === 'rip' || name === 'rsp');
    return new Map(
      (isPartial ? known : dwarfNumbers).map(([name, number]) => [number, registers[name] ?? 0n]),
    );
  },
  longestCall,
  endsInCall,
  findCallee: (returnAddress, memory) => {
    const from = returnAddress - callBytes;
    if (!memory.has(from, callBytes) || memory.readUint8(from) !== CALL) return undefined;
    return returnAddress + memory.readInt32(from + 1);
  },
  withoutSignature: (returnAddress) => returnAddress,
};
