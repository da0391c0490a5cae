/**
 * Decodes one instruction of x86-64: its length, where control goes from there, and what it does to the stack pointer. Operands
 * are not interpreted otherwise. Source: Intel SDM volume 2, appendix A (opcode maps).
 */

export type StackEffect =
  | { kind: 'push' | 'pop'; register?: number }
  /** The stack pointer moves by a fixed number of bytes. */
  | { kind: 'move'; by: number }
  /** It becomes the frame pointer plus this. */
  | { kind: 'to-frame'; by: number }
  /** `leave`: it becomes the frame pointer, and that is popped. */
  | { kind: 'leave' }
  | { kind: 'unknown' };

export interface Instruction {
  length: number;
  /** `jump-anywhere`: to what a register or memory contains. `end`: nothing follows (`ret` is `return`). */
  flow: 'next' | 'call' | 'jump' | 'branch' | 'jump-anywhere' | 'return' | 'end';
  /** Of a jump or branch: from its end to its target. */
  distance?: number;
  stack?: StackEffect;
}

/** The numbers of registers in instructions. */
const rsp = 4;
export const rbp = 5;
const longestInstruction = 15;

const isLegacyPrefix = (byte: number) =>
  [0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67, 0xf0].includes(byte);
const isBetween = (value: number, low: number, high: number) => value >= low && value <= high;

/** Instructions with two operands whose destination is a register or memory by ModRM, or the register in its middle bits. */
const writesOperand = new Set([0x01, 0x09, 0x11, 0x19, 0x21, 0x29, 0x31, 0x89, 0x81, 0x83, 0x87, 0xc7]);
const writesRegister = new Set([0x03, 0x0b, 0x13, 0x1b, 0x23, 0x2b, 0x33, 0x8b, 0x8d, 0x87, 0x63]);

/** Of the map of one byte: those with a ModRM byte beyond the arithmetic ones below 0x40. */
const hasModRm = (op: number) =>
  op < 0x40
    ? (op & 7) < 4
    : [0x63, 0x69, 0x6b, 0xc0, 0xc1, 0xc6, 0xc7, 0xf6, 0xf7, 0xfe, 0xff].includes(op) ||
      isBetween(op, 0x80, 0x8f) ||
      isBetween(op, 0xd0, 0xd3) ||
      isBetween(op, 0xd8, 0xdf);

/** Bytes of the immediate operand in the map of one byte. */
function immediateBytes(op: number, reg: number, isWide: boolean, isShort: boolean): number {
  const word = isShort ? 2 : 4;
  if (op < 0x40) return (op & 7) === 4 ? 1 : (op & 7) === 5 ? word : 0;
  if (op === 0x68 || op === 0x69 || op === 0x81 || op === 0xa9 || op === 0xc7) return word;
  if (op === 0x6a || op === 0x6b || op === 0x80 || op === 0x83 || op === 0xa8 || op === 0xc6) return 1;
  if (op === 0xc0 || op === 0xc1 || op === 0xcd || isBetween(op, 0xe4, 0xe7)) return 1;
  if (isBetween(op, 0x70, 0x7f) || isBetween(op, 0xe0, 0xe3) || op === 0xeb) return 1;
  if (op === 0xe8 || op === 0xe9) return 4;
  if (isBetween(op, 0xa0, 0xa3)) return 8;
  if (isBetween(op, 0xb0, 0xb7)) return 1;
  if (isBetween(op, 0xb8, 0xbf)) return isWide ? 8 : word;
  if (op === 0xc2 || op === 0xca) return 2;
  if (op === 0xc8) return 3;
  if (op === 0xf6) return reg < 2 ? 1 : 0;
  if (op === 0xf7) return reg < 2 ? word : 0;
  return 0;
}

/** In the map after 0F: those without a ModRM byte, and those with an immediate byte. */
const isBare = (op: number) =>
  isBetween(op, 0x05, 0x0b) ||
  isBetween(op, 0x30, 0x37) ||
  op === 0x77 ||
  isBetween(op, 0x80, 0x8f) ||
  isBetween(op, 0xa0, 0xa2) ||
  isBetween(op, 0xa8, 0xaa) ||
  isBetween(op, 0xc8, 0xcf);
const hasByte = (op: number) =>
  isBetween(op, 0x70, 0x73) || [0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6].includes(op);

interface Operand {
  bytes: number;
  mod: number;
  reg: number;
  /** The register, or that of an address; 4 stands for an index. */
  base: number;
  /** The register that is added to an index, if there is an index. */
  indexed: number;
  displacement: number;
}

function readOperand(code: Uint8Array, at: number): Operand {
  const byte = code[at] ?? 0;
  const [mod, reg, base] = [byte >> 6, (byte >> 3) & 7, byte & 7];
  const hasIndex = mod !== 3 && base === rsp;
  const sib = hasIndex ? (code[at + 1] ?? 0) : 0;
  const start = at + (hasIndex ? 2 : 1);
  const isFar = mod === 2 || (mod === 0 && (hasIndex ? (sib & 7) === rbp : base === rbp));
  const displacement = mod === 1 ? signedByte(code, start) : isFar ? signedWord(code, start) : 0;
  return {
    bytes: start - at + (mod === 1 ? 1 : isFar ? 4 : 0),
    mod,
    reg,
    base,
    indexed: hasIndex && ((sib >> 3) & 7) === rsp ? sib & 7 : -1,
    displacement,
  };
}

const signedByte = (code: Uint8Array, at: number) => ((code[at] ?? 0) << 24) >> 24;
const signedWord = (code: Uint8Array, at: number) =>
  (code[at] ?? 0) | ((code[at + 1] ?? 0) << 8) | ((code[at + 2] ?? 0) << 16) | ((code[at + 3] ?? 0) << 24);

/** Undefined if it is not complete in `code`, or is none that compilers emit. */
export function decodeInstruction(code: Uint8Array, start: number): Instruction | undefined {
  const found = decode(code, start);
  const isWhole = found && found.length <= longestInstruction && start + found.length <= code.length;
  return isWhole ? found : undefined;
}

function decode(code: Uint8Array, start: number): Instruction | undefined {
  let at = start;
  let isShort = false;
  while (isLegacyPrefix(code[at] ?? 0)) isShort = code[at++] === 0x66 || isShort;
  let rex = 0;
  if (isBetween(code[at] ?? 0, 0x40, 0x4f)) rex = code[at++] ?? 0;
  const op = code[at++] ?? 0;
  if (op === 0xc4 || op === 0xc5 || op === 0x62) return decodeVector(code, start, at - 1);
  if (op === 0x0f) return decodeTwoBytes(code, start, at);
  const operand = hasModRm(op) ? readOperand(code, at) : undefined;
  const immediateAt = at + (operand?.bytes ?? 0);
  const bytes = immediateBytes(op, operand?.reg ?? 0, (rex & 8) !== 0, isShort);
  const length = immediateAt + bytes - start;
  const value = bytes === 1 ? signedByte(code, immediateAt) : signedWord(code, immediateAt);
  const stack = operand ? effectOf(op, rex, operand, value) : bareEffect(op, rex);
  return { length, ...flowOf(op, operand, value), ...(stack && { stack }) };
}

function decodeTwoBytes(code: Uint8Array, start: number, at: number): Instruction | undefined {
  const op = code[at] ?? 0;
  if (op === 0x38 || op === 0x3a) {
    const { bytes } = readOperand(code, at + 2);
    return { length: at + 2 + bytes + (op === 0x3a ? 1 : 0) - start, flow: 'next' };
  }
  if (isBetween(op, 0x80, 0x8f))
    return { length: at + 5 - start, flow: 'branch', distance: signedWord(code, at + 1) };
  const length = at + 1 + (isBare(op) ? 0 : readOperand(code, at + 1).bytes) + (hasByte(op) ? 1 : 0) - start;
  // ud2 and ud1.
  return { length, flow: op === 0x0b || op === 0xb9 ? 'end' : 'next' };
}

/** AVX: two, three (AVX-512: four) bytes of prefix, the last bits of the first one of which name the map. */
function decodeVector(code: Uint8Array, start: number, at: number): Instruction {
  const first = code[at] ?? 0;
  const prefix = first === 0xc5 ? 2 : first === 0xc4 ? 3 : 4;
  const map = first === 0xc5 ? 1 : (code[at + 1] ?? 0) & (first === 0xc4 ? 31 : 7);
  const op = code[at + prefix] ?? 0;
  const isZeroing = map === 1 && op === 0x77;
  const { bytes } = isZeroing ? { bytes: 0 } : readOperand(code, at + prefix + 1);
  const immediate = map === 3 || (map === 1 && hasByte(op)) ? 1 : 0;
  return { length: at + prefix + 1 + bytes + immediate - start, flow: 'next' };
}

function flowOf(
  op: number,
  operand: Operand | undefined,
  value: number,
): Pick<Instruction, 'flow' | 'distance'> {
  if (op === 0xe8) return { flow: 'call' };
  if (op === 0xe9 || op === 0xeb) return { flow: 'jump', distance: value };
  if (isBetween(op, 0x70, 0x7f) || isBetween(op, 0xe0, 0xe3)) return { flow: 'branch', distance: value };
  if (op === 0xc2 || op === 0xc3) return { flow: 'return' };
  // hlt, int3
  if (op === 0xf4 || op === 0xcc) return { flow: 'end' };
  if (op === 0xff && operand?.reg === 2) return { flow: 'call' };
  if (op === 0xff && operand?.reg === 4) return { flow: 'jump-anywhere' };
  return { flow: 'next' };
}

function bareEffect(op: number, rex: number): StackEffect | undefined {
  const register = (op & 7) + (rex & 1 ? 8 : 0);
  if (isBetween(op, 0x50, 0x57)) return { kind: 'push', register };
  if (isBetween(op, 0x58, 0x5f)) return register === rsp ? { kind: 'unknown' } : { kind: 'pop', register };
  if (op === 0x68 || op === 0x6a || op === 0x9c) return { kind: 'push' };
  if (op === 0x9d) return { kind: 'pop' };
  return op === 0xc9 ? { kind: 'leave' } : op === 0xc8 ? { kind: 'unknown' } : undefined;
}

function effectOf(op: number, rex: number, operand: Operand, value: number): StackEffect | undefined {
  const { mod, reg, base, indexed, displacement } = operand;
  if (op === 0xff && reg === 6) return { kind: 'push' };
  if (op === 0x8f) return { kind: 'pop' };
  const isOperandStack = mod === 3 && base === rsp && !(rex & 1) && writesOperand.has(op);
  const isRegisterStack = reg === rsp && !(rex & 4) && writesRegister.has(op);
  if (!isOperandStack && !isRegisterStack) return undefined;
  if (isOperandStack && (op === 0x81 || op === 0x83)) {
    // Of eight operations: 0 adds, 5 subtracts, 7 compares.
    if (reg === 7) return undefined;
    return reg === 0
      ? { kind: 'move', by: value }
      : reg === 5
        ? { kind: 'move', by: -value }
        : { kind: 'unknown' };
  }
  if (isOperandStack && op === 0x89 && reg === rbp && !(rex & 4)) return { kind: 'to-frame', by: 0 };
  if (!isRegisterStack || rex & 3) return { kind: 'unknown' };
  if (op === 0x8b && mod === 3 && base === rbp) return { kind: 'to-frame', by: 0 };
  if (op !== 0x8d) return { kind: 'unknown' };
  if (mod !== 0 && base === rbp) return { kind: 'to-frame', by: displacement };
  return mod !== 0 && indexed === rsp ? { kind: 'move', by: displacement } : { kind: 'unknown' };
}
