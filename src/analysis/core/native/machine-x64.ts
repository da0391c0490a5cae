/** x86-64 for the unwinder. Source: System V psABI x86-64, table 3.36. */
import type { X64Register } from '../../../formats/elf-core/layout.ts';
import type { Machine } from './machine.ts';
import { findUses, findUsesToReturn } from './x64-stack-use.ts';

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
  return code[code.length - callBytes] === CALL || endsInIndirectCall(code);
}

function endsInIndirectCall(code: Uint8Array): boolean {
  const { length } = code;
  for (let bytes = 2; bytes <= longestCall; bytes++)
    if (code[length - bytes] === CALL_INDIRECT && indirectCallBytes(code[length - bytes + 1] ?? 0) === bytes)
      return true;
  return false;
}

/** `jmp` and the sixteen conditional jumps (after 0F) with a 32-bit displacement; FF /4 jumps to a register or memory operand. */
const JUMP = 0xe9;
/** `jmp` with a displacement of 8 bits. */
const SHORT_JUMP = 0xeb;
const CONDITIONAL = 0x0f;
const isCondition = (code: number) => code >= 0x80 && code <= 0x8f;
const isIndirectJump = (modRm: number) => ((modRm >> 3) & 7) === 4;

/**
 * Instructions are not decoded: a displacement at any byte counts. One that is none leads nowhere, or makes the answer less
 * strict.
 */
function findJumps(code: Uint8Array, start: number): number[] | undefined {
  const view = new DataView(code.buffer, code.byteOffset, code.length);
  const targets: number[] = [];
  for (let at = 0; at < code.length; at++) {
    const first = code[at];
    const second = code[at + 1] ?? 0;
    if (first === CALL_INDIRECT && isIndirectJump(second)) return undefined;
    const operand =
      first === JUMP ? at + 1 : first === CONDITIONAL && isCondition(second) ? at + 2 : undefined;
    if (operand === undefined || operand + 4 > code.length) continue;
    targets.push(start + operand + 4 + view.getInt32(operand, true));
  }
  return targets;
}

function findJump(code: Uint8Array, start: number): number | undefined {
  const view = new DataView(code.buffer, code.byteOffset, code.length);
  if (code[0] === JUMP && code.length >= 5) return start + 5 + view.getInt32(1, true);
  return code[0] === SHORT_JUMP && code.length >= 2 ? start + 2 + view.getInt8(1) : undefined;
}

function findJumpBehindCall(code: Uint8Array, start: number): number | undefined {
  for (let at = 2; at < code.length; at++) {
    const target = findJump(code.subarray(at), start + at);
    const isInside = target !== undefined && target >= start && target < start + code.length;
    if (isInside && endsInCall(code.subarray(0, at))) return target;
  }
  return undefined;
}

/** endbr64, if the file was built for it; bnd or notrack; jmp [rip + displacement]. */
const ENDBR = [0xf3, 0x0f, 0x1e, 0xfa];
const prefixes = [0xf2, 0x3e];
const JUMP_RIP = [0xff, 0x25];

function findLinkageSlot(code: Uint8Array, address: number): number | undefined {
  let at = ENDBR.every((byte, i) => code[i] === byte) ? ENDBR.length : 0;
  if (prefixes.includes(code[at] ?? 0)) at++;
  const operand = at + JUMP_RIP.length;
  if (!JUMP_RIP.every((byte, i) => code[at + i] === byte) || operand + 4 > code.length) return undefined;
  return address + operand + 4 + new DataView(code.buffer, code.byteOffset + operand).getInt32(0, true);
}

/** push rbp; mov rbp, rsp. */
const MAKE_FRAME = [0x55, 0x48, 0x89, 0xe5];
/** `push` of a register (after 41 of one of the newer eight), of a byte, of 32 bits; `sub rsp` of a byte, of 32 bits. */
const isPush = (code: number) => code >= 0x50 && code <= 0x57;
const NEWER_REGISTER = 0x41;
const PUSH_BYTE = 0x6a;
const PUSH_WORD = 0x68;
const SUBTRACT_BYTE = [0x48, 0x83, 0xec];
const SUBTRACT_WORD = [0x48, 0x81, 0xec];

function findFrameBytes(code: Uint8Array): number | undefined {
  const isAt = (at: number, bytes: readonly number[]) => bytes.every((byte, i) => code[at + i] === byte);
  const start = Buffer.from(code.buffer, code.byteOffset, code.length).indexOf(Buffer.from(MAKE_FRAME));
  if (start < 0) return undefined;
  const view = new DataView(code.buffer, code.byteOffset, code.length);
  let at = start + MAKE_FRAME.length;
  for (let bytes = 0; at + 8 <= code.length; bytes += 8) {
    const first = code[at] ?? 0;
    if (isAt(at, SUBTRACT_BYTE)) return bytes + view.getUint8(at + 3);
    if (isAt(at, SUBTRACT_WORD)) return bytes + view.getUint32(at + 3, true);
    if (isPush(first)) at += 1;
    else if (first === NEWER_REGISTER && isPush(code[at + 1] ?? 0)) at += 2;
    else if (first === PUSH_BYTE) at += 2;
    else if (first === PUSH_WORD) at += 5;
    else return bytes;
  }
  return undefined;
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
  findTarget: (code, returnAddress) => {
    const from = code.length - callBytes;
    if (from < 0 || code[from] !== CALL || endsInIndirectCall(code)) return undefined;
    return returnAddress + new DataView(code.buffer, code.byteOffset + from + 1).getInt32(0, true);
  },
  findJumps,
  findJump,
  findJumpBehindCall,
  linkageEntry: 16,
  findLinkageSlot,
  findCallee: (returnAddress, memory) => {
    const from = returnAddress - callBytes;
    if (!memory.has(from, callBytes) || memory.readUint8(from) !== CALL) return undefined;
    return returnAddress + memory.readInt32(from + 1);
  },
  withoutSignature: (returnAddress) => returnAddress,
  findFrameBytes,
  entryDepth: 8,
  findUses,
  findUsesToReturn,
};
