/** tables/first-lines.ts and `isPortField` again: cheap tests of what follows. Change both together; a test compares them. */
import { alnum, cellsAt, classOf, digit, unitAt } from './walk-layout';

const longestName: i32 = 40;
const deepestIndent: i32 = 12;
/** Values in the table of cells. */
const delimiterUnit: u32 = 1;
const nameUnit: u32 = 2;
const bar: u32 = 0x2502;

function isDelimited(at: usize): bool {
  const first = unitAt(at);
  if (first === 124 || first === bar) return true;
  if (first === 32) {
    if (unitAt(at, 1) === 32) return false;
  } else if (!(classOf(first) & alnum) && first !== 34 && first !== 39) return false;
  for (let i = 0; i < longestName; i++) {
    const unit = unitAt(at, i);
    const kind: u32 = unit < 128 ? load<u8>(unit, cellsAt) : 0;
    if (kind !== nameUnit) return (kind === delimiterUnit && unit !== 0) || unit === bar;
  }
  return false;
}

function mayBeAligned(at: usize): bool {
  let i = at;
  const deepest = at + (deepestIndent << 1);
  while (i < deepest && unitAt(i) === 32) i += 2;
  if (!(classOf(unitAt(i)) & alnum)) return false;
  for (const stop = i + 88; i < stop; i += 2) {
    const unit = unitAt(i);
    if (unit === 32) return unitAt(i, 1) === 32;
    if (unit < 45) return false;
  }
  return false;
}

export function mayOpenTable(at: usize): bool {
  return unitAt(at) === 48 || isDelimited(at) || mayBeAligned(at);
}

export function isPortField(at: usize): bool {
  let i = at;
  while (i - at < 12 && classOf(unitAt(i)) & digit) i += 2;
  if (i === at && unitAt(i) === 42) i += 2;
  return i > at && unitAt(i) === 58 && unitAt(i, 1) > 32 && !(classOf(unitAt(i, 1)) & digit);
}
