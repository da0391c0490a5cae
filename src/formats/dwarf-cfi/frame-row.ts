/**
 * Executes call frame instructions up to an address and returns the row of rules for it: how to compute the canonical frame
 * address (CFA) and the caller's registers. Register numbers are DWARF's. Source: DWARF 5 §6.4.2.
 */
import { ByteCursor } from '../../bytes/cursor.ts';
import type { FrameDescription } from './eh-frame.ts';
import * as dw from './layout.ts';

export type RegisterRule =
  /** Unchanged from the callee. */
  | { kind: 'same' }
  | { kind: 'undefined' }
  /** Saved at CFA + offset. */
  | { kind: 'offset'; offset: bigint }
  /** The value is CFA + offset. */
  | { kind: 'value-offset'; offset: bigint }
  | { kind: 'register'; register: number }
  /** Saved at the address that the expression computes. */
  | { kind: 'expression'; code: Uint8Array }
  /** The value is the result of the expression. */
  | { kind: 'value-expression'; code: Uint8Array };

export type CfaRule =
  | { kind: 'register'; register: number; offset: bigint }
  | { kind: 'expression'; code: Uint8Array };

export interface FrameRow {
  cfa: CfaRule;
  registers: Map<number, RegisterRule>;
}

const format = 'dwarf-cfi';
/** Compilers nest at most a few. */
const maxRememberedRows = 64;

/** The rules that apply at `address`. */
export function computeFrameRow(frame: FrameDescription, address: number): FrameRow {
  const initial: FrameRow = { cfa: { kind: 'register', register: 7, offset: 0n }, registers: new Map() };
  run(frame.common.instructions, frame, Number.POSITIVE_INFINITY, initial, undefined);
  const row = { cfa: initial.cfa, registers: new Map(initial.registers) };
  run(frame.instructions, frame, address, row, initial);
  return row;
}

function run(
  code: Uint8Array,
  frame: FrameDescription,
  address: number,
  row: FrameRow,
  initial: FrameRow | undefined,
): void {
  const { codeAlign, dataAlign } = frame.common;
  const cursor = new ByteCursor(code, format);
  const remembered: FrameRow[] = [];
  let location = frame.start;
  const register = () => Number(cursor.uleb('register'));
  const set = (number: number, rule: RegisterRule) => row.registers.set(number, rule);
  const restore = (number: number) => {
    const rule = initial?.registers.get(number);
    if (rule) row.registers.set(number, rule);
    else row.registers.delete(number);
  };
  const factored = () => cursor.uleb('offset') * dataAlign;
  const factoredSigned = () => cursor.sleb('offset') * dataAlign;
  const block = () => cursor.take(Number(cursor.uleb('block length')), 'block');
  const moveCfa = (offset: bigint) => {
    if (row.cfa.kind !== 'register')
      throw cursor.error('CFA', cursor.position, 'a register rule', 'an expression');
    row.cfa = { ...row.cfa, offset };
  };

  while (cursor.remaining > 0) {
    const op = cursor.u8('instruction');
    const low = op & 0x3f;
    const high = op & 0xc0;
    let advance = -1;
    if (high === dw.DW_CFA_advance_loc) advance = low;
    else if (high === dw.DW_CFA_offset) set(low, { kind: 'offset', offset: factored() });
    else if (high === dw.DW_CFA_restore) restore(low);
    else
      switch (op) {
        case dw.DW_CFA_nop:
          break;
        case dw.DW_CFA_set_loc:
          location = Number(cursor.u64('location'));
          if (location > address) return;
          break;
        case dw.DW_CFA_advance_loc1:
          advance = cursor.u8('delta');
          break;
        case dw.DW_CFA_advance_loc2:
          advance = cursor.u16('delta');
          break;
        case dw.DW_CFA_advance_loc4:
          advance = cursor.u32('delta');
          break;
        case dw.DW_CFA_offset_extended:
          set(register(), { kind: 'offset', offset: factored() });
          break;
        case dw.DW_CFA_offset_extended_sf:
          set(register(), { kind: 'offset', offset: factoredSigned() });
          break;
        case dw.DW_CFA_GNU_negative_offset_extended:
          set(register(), { kind: 'offset', offset: -factored() });
          break;
        case dw.DW_CFA_val_offset:
          set(register(), { kind: 'value-offset', offset: factored() });
          break;
        case dw.DW_CFA_val_offset_sf:
          set(register(), { kind: 'value-offset', offset: factoredSigned() });
          break;
        case dw.DW_CFA_restore_extended:
          restore(register());
          break;
        case dw.DW_CFA_undefined:
          set(register(), { kind: 'undefined' });
          break;
        case dw.DW_CFA_same_value:
          set(register(), { kind: 'same' });
          break;
        case dw.DW_CFA_register: {
          const target = register();
          set(target, { kind: 'register', register: register() });
          break;
        }
        case dw.DW_CFA_remember_state:
          if (remembered.length >= maxRememberedRows)
            throw cursor.error('remember_state', cursor.position, `at most ${maxRememberedRows}`, 'more');
          remembered.push({ cfa: row.cfa, registers: new Map(row.registers) });
          break;
        case dw.DW_CFA_restore_state: {
          const saved = remembered.pop();
          if (!saved) throw cursor.error('restore_state', cursor.position, 'a remembered row', 'none');
          row.cfa = saved.cfa;
          row.registers = saved.registers;
          break;
        }
        case dw.DW_CFA_def_cfa:
          row.cfa = { kind: 'register', register: register(), offset: cursor.uleb('offset') };
          break;
        case dw.DW_CFA_def_cfa_sf:
          row.cfa = { kind: 'register', register: register(), offset: factoredSigned() };
          break;
        case dw.DW_CFA_def_cfa_register:
          row.cfa = {
            kind: 'register',
            register: register(),
            offset: row.cfa.kind === 'register' ? row.cfa.offset : 0n,
          };
          break;
        case dw.DW_CFA_def_cfa_offset:
          moveCfa(cursor.uleb('offset'));
          break;
        case dw.DW_CFA_def_cfa_offset_sf:
          moveCfa(factoredSigned());
          break;
        case dw.DW_CFA_def_cfa_expression:
          row.cfa = { kind: 'expression', code: block() };
          break;
        case dw.DW_CFA_expression:
          set(register(), { kind: 'expression', code: block() });
          break;
        case dw.DW_CFA_val_expression:
          set(register(), { kind: 'value-expression', code: block() });
          break;
        // Callers remove the signature from a return address in any case: user-space addresses don't use these bits.
        case dw.DW_CFA_AARCH64_negate_ra_state:
        case dw.DW_CFA_AARCH64_negate_ra_state_with_pc:
          break;
        case dw.DW_CFA_GNU_args_size:
          cursor.uleb('size');
          break;
        default:
          throw cursor.error('instruction', cursor.position - 1, 'a known one', `0x${op.toString(16)}`);
      }
    if (advance < 0) continue;
    location += advance * Number(codeAlign);
    if (location > address) return;
  }
}
