/** Evaluates the DWARF expressions that occur in call frame information, without backward branches. Source: DWARF 5 §2.5. */
import { ByteCursor } from '../../bytes/cursor.ts';
import * as dw from './layout.ts';

/** Access to the frame's registers and memory. Both functions throw, or return undefined, for unknown values. */
export interface ExpressionContext {
  register(number: number): bigint | undefined;
  readWord(address: bigint): bigint;
}

const format = 'dwarf-cfi';
const maxSteps = 1000;
const wrap = (value: bigint) => BigInt.asUintN(64, value);
const signed = (value: bigint) => BigInt.asIntN(64, value);

/** The value on top of the stack at the end, as unsigned 64 bits. `initial` is pushed first. */
export function evaluateExpression(code: Uint8Array, context: ExpressionContext, initial?: bigint): bigint {
  const cursor = new ByteCursor(code, format);
  const stack: bigint[] = initial === undefined ? [] : [initial];
  const pop = () => {
    const value = stack.pop();
    if (value === undefined)
      throw cursor.error('expression', cursor.position, 'a value on the stack', 'none');
    return value;
  };
  const push = (value: bigint) => stack.push(wrap(value));
  const register = (number: number) => {
    const value = context.register(number);
    if (value === undefined)
      throw cursor.error('expression', cursor.position, `register ${number}`, 'unknown');
    return value;
  };
  const binary = (apply: (a: bigint, b: bigint) => bigint) => {
    const b = pop();
    push(apply(pop(), b));
  };
  const compare = (apply: (a: bigint, b: bigint) => boolean) =>
    binary((a, b) => (apply(signed(a), signed(b)) ? 1n : 0n));

  for (let steps = 0; cursor.remaining > 0; steps++) {
    if (steps > maxSteps)
      throw cursor.error('expression', cursor.position, `at most ${maxSteps} steps`, 'more');
    const op = cursor.u8('operation');
    if (op >= dw.DW_OP_lit0 && op <= dw.DW_OP_lit31) push(BigInt(op - dw.DW_OP_lit0));
    else if (op >= dw.DW_OP_breg0 && op <= dw.DW_OP_breg31)
      push(register(op - dw.DW_OP_breg0) + cursor.sleb('offset'));
    else
      switch (op) {
        case dw.DW_OP_addr:
        case dw.DW_OP_const8u:
          push(cursor.u64('constant'));
          break;
        case dw.DW_OP_const1u:
          push(BigInt(cursor.u8('constant')));
          break;
        case dw.DW_OP_const1s:
          push(BigInt(cursor.i8('constant')));
          break;
        case dw.DW_OP_const2u:
          push(BigInt(cursor.u16('constant')));
          break;
        case dw.DW_OP_const2s:
          push(BigInt(cursor.i16('constant')));
          break;
        case dw.DW_OP_const4u:
          push(BigInt(cursor.u32('constant')));
          break;
        case dw.DW_OP_const4s:
          push(BigInt(cursor.i32('constant')));
          break;
        case dw.DW_OP_const8s:
          push(cursor.i64('constant'));
          break;
        case dw.DW_OP_constu:
          push(cursor.uleb('constant'));
          break;
        case dw.DW_OP_consts:
          push(cursor.sleb('constant'));
          break;
        case dw.DW_OP_bregx:
          push(register(Number(cursor.uleb('register'))) + cursor.sleb('offset'));
          break;
        case dw.DW_OP_deref:
          push(context.readWord(pop()));
          break;
        case dw.DW_OP_dup: {
          const top = pop();
          push(top);
          push(top);
          break;
        }
        case dw.DW_OP_drop:
          pop();
          break;
        case dw.DW_OP_over: {
          const top = pop();
          const below = pop();
          push(below);
          push(top);
          push(below);
          break;
        }
        case dw.DW_OP_swap: {
          const top = pop();
          const below = pop();
          push(top);
          push(below);
          break;
        }
        case dw.DW_OP_and:
          binary((a, b) => a & b);
          break;
        case dw.DW_OP_or:
          binary((a, b) => a | b);
          break;
        case dw.DW_OP_xor:
          binary((a, b) => a ^ b);
          break;
        case dw.DW_OP_plus:
          binary((a, b) => a + b);
          break;
        case dw.DW_OP_minus:
          binary((a, b) => a - b);
          break;
        case dw.DW_OP_mul:
          binary((a, b) => a * b);
          break;
        case dw.DW_OP_shl:
          binary((a, b) => (b > 63n ? 0n : a << b));
          break;
        case dw.DW_OP_shr:
          binary((a, b) => (b > 63n ? 0n : a >> b));
          break;
        case dw.DW_OP_shra:
          binary((a, b) => signed(a) >> (b > 63n ? 63n : b));
          break;
        case dw.DW_OP_neg:
          push(-pop());
          break;
        case dw.DW_OP_not:
          push(~pop());
          break;
        case dw.DW_OP_plus_uconst:
          push(pop() + cursor.uleb('constant'));
          break;
        case dw.DW_OP_eq:
          compare((a, b) => a === b);
          break;
        case dw.DW_OP_ne:
          compare((a, b) => a !== b);
          break;
        case dw.DW_OP_ge:
          compare((a, b) => a >= b);
          break;
        case dw.DW_OP_gt:
          compare((a, b) => a > b);
          break;
        case dw.DW_OP_le:
          compare((a, b) => a <= b);
          break;
        case dw.DW_OP_lt:
          compare((a, b) => a < b);
          break;
        case dw.DW_OP_skip:
          skip(cursor, cursor.i16('distance'));
          break;
        case dw.DW_OP_bra: {
          const distance = cursor.i16('distance');
          if (pop() !== 0n) skip(cursor, distance);
          break;
        }
        case dw.DW_OP_nop:
          break;
        default:
          throw cursor.error('operation', cursor.position - 1, 'a known one', `0x${op.toString(16)}`);
      }
  }
  return pop();
}

function skip(cursor: ByteCursor, distance: number): void {
  const target = cursor.position + distance;
  if (target < 0 || target > cursor.bytes.length)
    throw cursor.error('branch', cursor.position, 'a target within the expression', `${target}`);
  cursor.position = target;
}
