/** Applies a row of call frame rules to a frame's registers: returns the caller's registers and the frame's CFA. */
import type { MemoryReader } from '../../bytes/memory.ts';
import { type ExpressionContext, evaluateExpression } from './expression.ts';
import type { FrameRow, RegisterRule } from './frame-row.ts';

/** By DWARF number; registers with unknown values are absent. */
export type RegisterFile = Map<number, bigint>;

export interface CallerFrame {
  registers: RegisterFile;
  cfa: bigint;
}

/** Throws AbsentMemory or MalformedInput if the caller can't be determined. `stackPointer`: its DWARF number. */
export function computeCaller(
  row: FrameRow,
  registers: RegisterFile,
  memory: MemoryReader,
  stackPointer: number,
): CallerFrame | undefined {
  const context: ExpressionContext = {
    register: (number) => registers.get(number),
    readWord: (address) => memory.readBigWord(Number(address)),
  };
  const cfa = computeCfa(row, registers, context);
  if (cfa === undefined) return undefined;
  const caller: RegisterFile = new Map(registers);
  caller.set(stackPointer, cfa);
  for (const [number, rule] of row.registers) {
    const value = computeRegister(number, rule, cfa, registers, context);
    if (value === undefined) caller.delete(number);
    else caller.set(number, value);
  }
  return { registers: caller, cfa };
}

function computeCfa(row: FrameRow, registers: RegisterFile, context: ExpressionContext): bigint | undefined {
  if (row.cfa.kind === 'expression') return evaluateExpression(row.cfa.code, context);
  const base = registers.get(row.cfa.register);
  return base === undefined ? undefined : BigInt.asUintN(64, base + row.cfa.offset);
}

function computeRegister(
  number: number,
  rule: RegisterRule,
  cfa: bigint,
  registers: RegisterFile,
  context: ExpressionContext,
): bigint | undefined {
  switch (rule.kind) {
    case 'same':
      return registers.get(number);
    case 'undefined':
      return undefined;
    case 'offset':
      return context.readWord(BigInt.asUintN(64, cfa + rule.offset));
    case 'value-offset':
      return BigInt.asUintN(64, cfa + rule.offset);
    case 'register':
      return registers.get(rule.register);
    case 'expression':
      return context.readWord(evaluateExpression(rule.code, context, cfa));
    case 'value-expression':
      return evaluateExpression(rule.code, context, cfa);
  }
}
