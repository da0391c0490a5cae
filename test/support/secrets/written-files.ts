/** Every file below a folder with its bytes as text; compressed files also decompressed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export interface WrittenFile {
  path: string;
  /** Latin-1: one character per byte. */
  text: string;
}

export function readTree(folder: string): WrittenFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return readTree(path);
    if (!entry.isFile()) return [];
    const bytes = readFileSync(path);
    const inner = path.endsWith('.gz')
      ? [{ path: `${path} (unpacked)`, text: gunzipSync(bytes).toString('latin1') }]
      : [];
    return [{ path, text: bytes.toString('latin1') }, ...inner];
  });
}
