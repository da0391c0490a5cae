/**
 * arm64 for the unwinder. Sources: DWARF for the Arm 64-bit Architecture (register numbers), Arm Architecture Reference
 * Manual C6.2 (BL, BLR, BLRAA), arch/arm64/kernel/vdso/sigreturn.S and signal.c (the frame of a handler).
 */
import { readInterruptedRegisters } from '../../../formats/elf-core/signal-frame-arm64.ts';
import type { Machine } from './machine.ts';

const framePointer = 29;
const linkRegister = 30;
const stackPointer = 31;
const programCounter = 32;

const instructionBytes = 4;
/** BL: a six-bit opcode, then the distance in instructions. */
const isCallTo = (code: number) => code >>> 26 === 0b100101;
/** BLR and, with pointer authentication, BLRAAZ, BLRABZ (no second register), BLRAA and BLRAB. */
const indirectCalls: readonly (readonly [mask: number, bits: number])[] = [
  [0xfffffc1f, 0xd63f0000],
  [0xfffff81f, 0xd63f081f],
  [0xfffff800, 0xd73f0800],
];

const isOneOf = (list: typeof indirectCalls, code: number) =>
  list.some(([mask, bits]) => (code & mask) >>> 0 === bits);
const isCall = (code: number) => isCallTo(code) || isOneOf(indirectCalls, code);

/** B with a distance of 26 bits, B.cond with one of 19; BR and, with pointer authentication, BRAAZ, BRABZ, BRAA and BRAB. */
const isJump = (code: number) => code >>> 26 === 0b000101;
const isConditional = (code: number) => code >>> 24 === 0b01010100;
const indirectJumps: typeof indirectCalls = [
  [0xfffffc1f, 0xd61f0000],
  [0xfffff81f, 0xd61f081f],
  [0xfffff800, 0xd71f0800],
];

/** stp a, b, [sp, #-16]! of general and of vector registers. Any other instruction at the start of a function is a hint. */
const PAIR = 0xffff83e0;
const PUSH = 0xa9bf03e0;
const PUSH_VECTOR = 0x6dbf03e0;
const isHint = (code: number) => (code & 0xfffff01f) >>> 0 === 0xd503201f;
/** V8's entry from C++ pushes all callee-saved registers: ten general and eight vector registers. */
const longestPrologue = 16 * instructionBytes;

/** User-space addresses have at most 48 bits, unless a program asks for more. */
const addressBits = (1n << 48n) - 1n;

/**
 * mov x8, #139 (rt_sigreturn); svc #0. Unwinders must recognise this pattern, because the kernel provides no unwind table for
 * it.
 */
const returnFromSignal = [0xd2801168, 0xd4000001];

/** `signatureBits`: from the kernel's note; undefined if the core has none. */
export function makeArm64(signatureBits: bigint | undefined): Machine {
  const kept = signatureBits === undefined ? addressBits : BigInt.asUintN(64, ~signatureBits);
  return {
    programCounter,
    stackPointer,
    framePointer,
    linkRegister,
    interpreterOffset: 19,
    stopsBehindBreakpoint: false,
    registersOf: ({ registers }) => {
      const all = Object.entries(registers).flatMap(([name, value]): [number, bigint][] => {
        const number = numberOf(name);
        return number === undefined ? [] : [[number, value]];
      });
      const isPartial = all.every(([number, value]) => number > linkRegister || value === 0n);
      return new Map(isPartial ? all.filter(([number]) => number > linkRegister) : all);
    },
    longestCall: instructionBytes,
    endsInCall: (code) => {
      if (code.length < instructionBytes) return false;
      const at = code.length - instructionBytes;
      const last = new DataView(code.buffer, code.byteOffset + at).getUint32(0, true);
      return isCall(last);
    },
    findTarget: (code, returnAddress) => {
      if (code.length < instructionBytes) return undefined;
      const at = code.length - instructionBytes;
      const last = new DataView(code.buffer, code.byteOffset + at).getUint32(0, true);
      const from = returnAddress - instructionBytes;
      return isCallTo(last) ? from + ((last << 6) >> 6) * instructionBytes : undefined;
    },
    findJumps,
    findJump,
    findJumpBehindCall,
    // Several instructions compute the address of the word; what they jump to is not followed.
    linkageEntry: instructionBytes,
    findLinkageSlot: () => undefined,
    findCallee: (returnAddress, memory) => {
      const from = returnAddress - instructionBytes;
      if (from % instructionBytes !== 0 || !memory.has(from, instructionBytes)) return undefined;
      const code = memory.readUint32(from);
      return isCallTo(code) ? from + ((code << 6) >> 6) * instructionBytes : undefined;
    },
    findPushedFirst,
    withoutSignature: (returnAddress) => returnAddress & kept,
    findInterrupted: (registers, memory) => {
      const pc = Number(registers.get(programCounter) ?? 0n);
      if (!memory.has(pc, 2 * instructionBytes)) return undefined;
      if (returnFromSignal.some((code, i) => memory.readUint32(pc + i * instructionBytes) !== code))
        return undefined;
      const interrupted = readInterruptedRegisters(Number(registers.get(stackPointer) ?? 0n), memory);
      return new Map(interrupted);
    },
  };
}

function findJumps(code: Uint8Array, start: number): number[] | undefined {
  const view = new DataView(code.buffer, code.byteOffset, code.length);
  const targets: number[] = [];
  for (let at = 0; at + instructionBytes <= code.length; at += instructionBytes) {
    const instruction = view.getUint32(at, true);
    if (isOneOf(indirectJumps, instruction)) return undefined;
    if (isJump(instruction)) targets.push(start + at + ((instruction << 6) >> 6) * instructionBytes);
    else if (isConditional(instruction))
      targets.push(start + at + ((instruction << 8) >> 13) * instructionBytes);
  }
  return targets;
}

function findJump(code: Uint8Array, start: number): number | undefined {
  if (code.length < instructionBytes) return undefined;
  const first = new DataView(code.buffer, code.byteOffset).getUint32(0, true);
  return isJump(first) ? start + ((first << 6) >> 6) * instructionBytes : undefined;
}

function findJumpBehindCall(code: Uint8Array, start: number): number | undefined {
  const view = new DataView(code.buffer, code.byteOffset, code.length);
  for (let at = instructionBytes; at + instructionBytes <= code.length; at += instructionBytes) {
    const target = findJump(code.subarray(at), start + at);
    if (target !== undefined && isCall(view.getUint32(at - instructionBytes, true))) return target;
  }
  return undefined;
}

function findPushedFirst(code: Uint8Array): (number | undefined)[] {
  const view = new DataView(code.buffer, code.byteOffset, code.length);
  const pushed: (number | undefined)[] = [];
  for (let at = 0; at + instructionBytes <= Math.min(code.length, longestPrologue); at += instructionBytes) {
    const instruction = view.getUint32(at, true);
    const [first, second] = [instruction & 31, (instruction >> 10) & 31];
    const kind = (instruction & PAIR) >>> 0;
    if (kind === PUSH && first === framePointer && second === linkRegister) return pushed;
    if (kind === PUSH) pushed.unshift(first, second);
    else if (kind === PUSH_VECTOR) pushed.unshift(undefined, undefined);
    else if (!isHint(instruction)) return [];
  }
  return [];
}

function numberOf(name: string): number | undefined {
  if (name === 'sp') return stackPointer;
  if (name === 'pc') return programCounter;
  return name.startsWith('x') ? Number(name.slice(1)) : undefined;
}
