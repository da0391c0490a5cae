/**
 * Packs a bundle's folder into one zip file that can be read in place. Large parts, and parts that are already compressed,
 * are stored, so that a reader can stream them; everything else is deflated.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { AgentdumpError } from '../../errors.ts';
import { bundleSuffix, manifestName, packedSuffix, partialSuffix, progressName } from '../layout/bundle.ts';
import { type BundleReader, openBundle } from '../read/reader.ts';
import { packBytes, storedBytes, ZipArchive } from '../write/archive.ts';
import { writeNewFile } from '../write/new-file.ts';

export interface PackResult {
  path: string;
  bytes: number;
  /** Files in the folder that are no parts, and were left out. */
  leftOut: string[];
}

/** Larger parts are stored, not deflated, because a reader inflates in memory. */
const deflateLimit = 32 * 1024 * 1024;
const deflateLevel = 6;

/**
 * Writes `<folder>.zip` beside the folder, or to `output`; a torn bundle loses its `.partial`. Throws what openBundle
 * throws, `usage` if the bundle is already packed, `unwritable` if the file exists or can't be written.
 */
export function packBundle(path: string, options: { output?: string } = {}): PackResult {
  const bundle = openBundle(path);
  try {
    if (bundle.packed) throw new AgentdumpError('usage', `${path} is packed already`, { argument: path });
    return packOpenBundle(bundle, resolve(options.output ?? join(dirname(resolve(path)), packedName(path))));
  } finally {
    bundle.close();
  }
}

/** Throws `unwritable`, and what reading throws. */
export function packOpenBundle(bundle: BundleReader, output: string): PackResult {
  const folder = basename(output, '.zip');
  const { result, bytes } = writeNewFile(output, (put) => {
    const { add, end } = gather(put);
    const leftOut = writeArchive(bundle, folder, add);
    end();
    return leftOut;
  });
  return { path: output, bytes, leftOut: result };
}

const gatheredBytes = 64 * 1024;

/** Headers and small parts are written together: most bundles have nothing else. `put` may not keep what it is given. */
function gather(put: (bytes: Uint8Array) => void): { add: (bytes: Uint8Array) => void; end: () => void } {
  const buffer = Buffer.allocUnsafe(gatheredBytes);
  let used = 0;
  const end = () => {
    if (used > 0) put(buffer.subarray(0, used));
    used = 0;
  };
  const add = (bytes: Uint8Array) => {
    if (used + bytes.length > buffer.length) end();
    if (bytes.length > buffer.length) put(bytes);
    else {
      buffer.set(bytes, used);
      used += bytes.length;
    }
  };
  return { add, end };
}

/** The file name of a packed bundle. */
export function packedName(path: string): string {
  const name = basename(resolve(path));
  for (const suffix of [partialSuffix, bundleSuffix])
    if (name.endsWith(suffix)) return name.slice(0, -suffix.length) + packedSuffix;
  return `${name}.zip`;
}

/**
 * Writes the zip of an open bundle to `put` and returns the names it left out. Throws `over-limit`, and what reading
 * throws.
 */
export function writeArchive(
  bundle: BundleReader,
  folder: string,
  put: (bytes: Uint8Array) => void,
): string[] {
  const archive = new ZipArchive(put, Date.parse(bundle.head.createdAt ?? ''));
  const wanted = new Set([manifestName, progressName, ...bundle.parts.map((part) => part.name)]);
  const leftOut: string[] = [...bundle.source.refused.keys()];
  for (const [name, size] of bundle.source.sizes) {
    if (!wanted.has(name)) leftOut.push(name);
    else if (size <= deflateLimit && !name.endsWith('.gz'))
      addDeflated(archive, bundle, `${folder}/${name}`, name);
    else addStored(archive, bundle, `${folder}/${name}`, name);
  }
  archive.end();
  return leftOut;
}

function addDeflated(archive: ZipArchive, bundle: BundleReader, entryName: string, name: string): void {
  const packed = packBytes(bundle.source.read(name, deflateLimit), deflateLevel);
  archive.add(entryName, packed, [packed.data]);
}

/** Reads the file twice: the CRC precedes the data. */
function addStored(archive: ZipArchive, bundle: BundleReader, entryName: string, name: string): void {
  const file = bundle.source.open(name);
  try {
    let crc = 0;
    for (const chunk of file.chunks()) crc = crc32(chunk, crc);
    archive.add(entryName, storedBytes(file.bytes, crc), file.chunks());
  } finally {
    file.close();
  }
}
