/** Words of memory outside of V8's heap. */
import type { MemoryReader } from '../../../../bytes/memory.ts';

export type Range = readonly [start: number, end: number];

const systemPage = 4096;

/** `visit` receives the address and the two halves of each word. */
export function forEachWord(
  memory: MemoryReader,
  [start, end]: Range,
  visit: (at: number, low: number, high: number) => void,
): void {
  for (let at = start; at < end; at += systemPage) {
    const bytes = memory.peek(at, Math.min(systemPage, end - at));
    const view = bytes && new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let i = 0; view && i + 8 <= view.byteLength; i += 8)
      visit(at + i, view.getInt32(i, true), view.getInt32(i + 4, true));
  }
}

export function inRanges(ranges: readonly Range[]): (address: number) => boolean {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  return (address) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]![1] > address) high = middle;
      else low = middle + 1;
    }
    return low < sorted.length && sorted[low]![0] <= address;
  };
}
