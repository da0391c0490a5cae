/**
 * Branded numbers, so that a size is never added to a duration and a row number never indexes a flat array.
 * Knows nothing of where the numbers come from.
 */
declare const unit: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [unit]: Name };

/** A size in bytes; an integer below 2^53. */
export type ByteCount = Branded<number, 'ByteCount'>;
/** A duration in milliseconds, fractions allowed. */
export type Milliseconds = Branded<number, 'Milliseconds'>;
/** The row of a node in a heap snapshot, 0-based; never an offset into the flat node array. */
export type NodeOrdinal = Branded<number, 'NodeOrdinal'>;
/** An address in a process's memory. */
export type VirtualAddress = Branded<bigint, 'VirtualAddress'>;
/** An instant as ISO 8601 in UTC, e.g. `2026-11-21T03:04:05.678Z`. */
export type IsoTime = string;

export const byteCount = (value: number): ByteCount => value as ByteCount;
export const milliseconds = (value: number): Milliseconds => value as Milliseconds;
export const nodeOrdinal = (value: number): NodeOrdinal => value as NodeOrdinal;
export const virtualAddress = (value: bigint): VirtualAddress => value as VirtualAddress;

/** An address as the account prints it: `0x` and at least one lower-case hexadecimal digit. */
export function hexAddress(value: VirtualAddress): string {
  return `0x${value.toString(16)}`;
}
