/** Detects the compression or container of a core by its first bytes. */
import { isApportReport } from '../../../formats/apport-report/layout.ts';

export type Packing = 'gzip' | 'zlib' | 'zstd' | 'lz4' | 'xz' | 'bzip2' | 'apport';

/** Magic numbers: RFC 1952, RFC 1950 (in old apport reports), RFC 8878, the LZ4 frame format, the .xz format, bzip2. */
const magics: readonly [Packing, string][] = [
  ['gzip', '1f8b'],
  ['zlib', '7801'],
  ['zlib', '785e'],
  ['zlib', '789c'],
  ['zlib', '78da'],
  ['zstd', '28b52ffd'],
  ['lz4', '04224d18'],
  ['xz', 'fd377a585a00'],
  ['bzip2', '425a68'],
];
/** Number of bytes that are examined. */
export const headBytes = 64;

export const isPacked = (head: Uint8Array): boolean => packingOf(head) !== undefined;

export function packingOf(head: Uint8Array): Packing | undefined {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, headBytes)).toString('hex');
  const found = magics.find(([, magic]) => start.startsWith(magic))?.[0];
  return found ?? (isApportReport(head) ? 'apport' : undefined);
}
