/**
 * Node's own scripts lie as text in its executable. Of the half megabyte of them that an account reads to count lines,
 * a mini core keeps the line ends and the lines that are shown; the rest becomes spaces, which take no room.
 */
import type { OuterText } from '../../formats/v8/script.ts';

const space = 0x20;
/** What ends a line for V8; U+2028 and U+2029 are of two bytes. */
const lineEnds = new Set([0x0a, 0x0d, 0x2028, 0x2029]);

/** Changes `target`, which is the memory at `start`. */
export function blankTexts(target: Uint8Array, start: number, texts: readonly OuterText[]): void {
  const view = new DataView(target.buffer, target.byteOffset, target.length);
  for (const { address, bytesPerUnit, length, shown } of texts) {
    const from = Math.max(start, address);
    const to = Math.min(start + target.length, address + length * bytesPerUnit);
    if (from >= to) continue;
    const kept = [...shown].sort((a, b) => a[0] - b[0]);
    let next = 0;
    const first = Math.ceil((from - address) / bytesPerUnit);
    for (let unit = first; address + (unit + 1) * bytesPerUnit <= to; unit++) {
      while ((kept[next]?.[1] ?? Infinity) <= unit) next++;
      if (unit >= (kept[next]?.[0] ?? Infinity)) continue;
      const at = address + unit * bytesPerUnit - start;
      const code = bytesPerUnit === 1 ? target[at] : view.getUint16(at, true);
      if (code === undefined || lineEnds.has(code)) continue;
      if (bytesPerUnit === 1) target[at] = space;
      else view.setUint16(at, space, true);
    }
  }
}
