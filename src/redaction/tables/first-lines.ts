/** A cheap test whether a line may be the first of a table, or a row of bytes. Nearly no line passes. */

import { alnum, characterTables, wordUnit } from '../scan/characters.ts';

const longestName = 40;
const deepestIndent = 12;

/** Classes of ASCII units: `,` `|` tab `;` separate columns, the others may be part of a column's name. */
export const delimiterUnit = 1;
export const nameUnit = 2;
let table: Uint8Array | undefined;

export function cellUnits(): Uint8Array {
  if (table) return table;
  const { classes } = characterTables();
  const cells = new Uint8Array(128);
  for (let unit = 0; unit < 128; unit++) if (classes[unit]! & wordUnit) cells[unit] = nameUnit;
  for (const unit of [32, 46, 34, 39, 96, 42]) cells[unit] = nameUnit;
  for (const unit of [44, 124, 9, 59]) cells[unit] = delimiterUnit;
  // Only when it is complete: a deadline may end this function anywhere.
  table = cells;
  return cells;
}

/** The unit after the first column's name, or the bar at the start of the line; 0 for any other line. */
export function delimiterOf(units: Uint16Array, start: number): number {
  const first = units[start]!;
  if (first === 124 || first === 0x2502) return first;
  if (first === 32) {
    if (units[start + 1] === 32) return 0;
  } else if (!(characterTables().classes[first]! & alnum) && first < 128 && first !== 34 && first !== 39)
    return 0;
  const cells = cellUnits();
  for (let i = start; i < start + longestName; i++) {
    const unit = units[i]!;
    if (unit === 0x2502) return unit;
    const kind = unit < 128 ? cells[unit] : nameUnit;
    if (kind !== nameUnit) return kind === delimiterUnit ? unit : 0;
  }
  return 0;
}

/** Whether the line at `start` may have columns aligned by blanks: a word, then two blanks. */
export function mayBeAligned(units: Uint16Array, start: number): boolean {
  const { classes } = characterTables();
  let i = start;
  while (units[i] === 32 && i - start < deepestIndent) i += 1;
  if (!(classes[units[i]!]! & alnum)) return false;
  for (const stop = i + 44; i < stop; i++) {
    const unit = units[i]!;
    if (unit === 32) return units[i + 1] === 32;
    if (unit < 45) return false;
  }
  return false;
}

/** The line at `start` begins with `"user" "`. */
export function opensPair(units: Uint16Array, start: number): boolean {
  if (units[start] !== 34) return false;
  const { classes } = characterTables();
  let i = start + 1;
  while (classes[units[i]!]! & wordUnit && i - start < longestName) i += 1;
  return units[i] === 34 && units[i + 1] === 32 && units[i + 2] === 34;
}

/** The line at `start` is a candidate for findInColumns, findAligned, findInPair or decodeDump. */
export const mayOpenTable = (units: Uint16Array, start: number): boolean =>
  units[start] === 48 ||
  opensPair(units, start) ||
  delimiterOf(units, start) !== 0 ||
  mayBeAligned(units, start);
