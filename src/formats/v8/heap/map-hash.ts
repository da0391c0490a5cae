/** Of a map's pointer, given as two halves: for the hash tables that are looked up for each object of a heap. */
export const hash = (low: number, high: number): number => Math.imul(low ^ (high << 7), 0x9e37_79b1) >>> 11;
