/**
 * Names of the operations of frame translations, in the numbering of each V8 line. The binary contains a table with the
 * operand count of each operation. A list that does not match this table is rejected, so that a new numbering is never
 * decoded with an old list. Source: src/deoptimizer/translation-opcode.h of V8.
 */

const bigInts = `SIGNED_BIGINT64_REGISTER SIGNED_BIGINT64_STACK_SLOT UNSIGNED_BIGINT64_REGISTER
  UNSIGNED_BIGINT64_STACK_SLOT`;
const numbers = `FLOAT_REGISTER FLOAT_STACK_SLOT INT32_REGISTER INT32_STACK_SLOT INT64_REGISTER INT64_STACK_SLOT
  ${bigInts} OPTIMIZED_OUT LITERAL REGISTER STACK_SLOT UINT32_REGISTER UINT32_STACK_SLOT UPDATE_FEEDBACK
  MATCH_PREVIOUS_TRANSLATION`;
const frames = `INTERPRETED_FRAME_WITH_RETURN INTERPRETED_FRAME_WITHOUT_RETURN JAVASCRIPT_BUILTIN_CONTINUATION_FRAME
  JAVASCRIPT_BUILTIN_CONTINUATION_WITH_CATCH_FRAME CONSTRUCT_CREATE_STUB_FRAME CONSTRUCT_INVOKE_STUB_FRAME
  BUILTIN_CONTINUATION_FRAME JS_TO_WASM_BUILTIN_CONTINUATION_FRAME WASM_INLINED_INTO_JS_FRAME`;
const begins = 'BEGIN_WITHOUT_FEEDBACK BEGIN_WITH_FEEDBACK';

const split = (list: string): readonly string[] => list.split(/\s+/);

export const opcodesOfV8Line11 =
  split(`ARGUMENTS_ELEMENTS ARGUMENTS_LENGTH ${begins} BOOL_REGISTER BOOL_STACK_SLOT
  BUILTIN_CONTINUATION_FRAME CAPTURED_OBJECT CONSTRUCT_CREATE_STUB_FRAME DOUBLE_REGISTER DOUBLE_STACK_SLOT
  DUPLICATED_OBJECT FLOAT_REGISTER FLOAT_STACK_SLOT INLINED_EXTRA_ARGUMENTS INT32_REGISTER INT32_STACK_SLOT
  INT64_REGISTER INT64_STACK_SLOT ${bigInts} INTERPRETED_FRAME_WITH_RETURN INTERPRETED_FRAME_WITHOUT_RETURN
  JAVASCRIPT_BUILTIN_CONTINUATION_FRAME JAVASCRIPT_BUILTIN_CONTINUATION_WITH_CATCH_FRAME
  JS_TO_WASM_BUILTIN_CONTINUATION_FRAME OPTIMIZED_OUT LITERAL REGISTER STACK_SLOT UINT32_REGISTER UINT32_STACK_SLOT
  UPDATE_FEEDBACK MATCH_PREVIOUS_TRANSLATION`);

export const opcodesOfV8Line12 = split(`${frames} INLINED_EXTRA_ARGUMENTS ARGUMENTS_ELEMENTS ARGUMENTS_LENGTH
  ${begins} BOOL_REGISTER BOOL_STACK_SLOT CAPTURED_OBJECT DOUBLE_REGISTER DOUBLE_STACK_SLOT HOLEY_DOUBLE_REGISTER
  HOLEY_DOUBLE_STACK_SLOT DUPLICATED_OBJECT ${numbers}`);

export const opcodesOfV8Line13 = split(`${frames} LIFTOFF_FRAME INLINED_EXTRA_ARGUMENTS ARGUMENTS_ELEMENTS
  ARGUMENTS_LENGTH REST_LENGTH ${begins} BOOL_REGISTER BOOL_STACK_SLOT CAPTURED_OBJECT STRING_CONCAT DOUBLE_REGISTER
  DOUBLE_STACK_SLOT SIMD128_STACK_SLOT HOLEY_DOUBLE_REGISTER HOLEY_DOUBLE_STACK_SLOT SIMD128_REGISTER
  DUPLICATED_OBJECT ${numbers}`);

/** V8 12.9 has no deferred string concatenation yet. */
export const opcodesOfV8Line129 = opcodesOfV8Line13.filter((name) => name !== 'STRING_CONCAT');

/** Name and operand count of each operation. The last one is MATCH_PREVIOUS_TRANSLATION. */
export interface TranslationOpcodes {
  names: readonly string[];
  operandCounts: readonly number[];
}

const knownCounts: readonly [name: RegExp, count: number][] = [
  [/^(?:ARGUMENTS_LENGTH|REST_LENGTH|STRING_CONCAT|OPTIMIZED_OUT)$/, 0],
  [/_REGISTER$|_SLOT$|^REGISTER$|^LITERAL$|^(?:CAPTURED|DUPLICATED)_OBJECT$|^ARGUMENTS_ELEMENTS$|^MATCH/, 1],
  [/^UPDATE_FEEDBACK$/, 2],
  [/^BEGIN_|^(?:JAVASCRIPT_)?BUILTIN_/, 3],
];

/** Undefined if the list does not match the operand counts in the binary. */
export function matchOpcodes(
  names: readonly string[],
  operandCounts: readonly number[],
): TranslationOpcodes | undefined {
  const fits = (name: string, i: number) =>
    knownCounts.every(([pattern, count]) => !pattern.test(name) || operandCounts[i] === count);
  return names.length === operandCounts.length && names.every(fits) ? { names, operandCounts } : undefined;
}
