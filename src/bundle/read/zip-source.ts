/**
 * Reads a packed bundle in place: nothing is extracted, no name in it is used as a path, and every number in its headers is
 * checked against the actual bytes before anything is read or allocated. An invalid entry is skipped; an invalid directory
 * makes the whole file unreadable. The layout is in layout/zip.ts.
 */
import { crc32, inflateRawSync } from 'node:zlib';
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { manifestName, partNames, progressName } from '../layout/bundle.ts';
import {
  centralHeader,
  endRecord,
  localHeader,
  unixFileTypes,
  unixMadeBy,
  zip64Marker,
  zipFlags,
  zipMethods,
} from '../layout/zip.ts';
import {
  type BundleSource,
  chunksIn,
  isPartName,
  mostFiles,
  type PartFile,
  requireWithin,
} from './source.ts';
import type { ByteWindow } from './window.ts';

interface Entry {
  /** As in the zip, and without the folder that all entries share. */
  rawName: string;
  name: string;
  flags: number;
  method: number;
  crc: number;
  compressedSize: number;
  uncompressedSize: number;
  localOffset: number;
  /** Why it can't be a part. */
  problem?: string;
}

/** For files that another program added beside the bundle. */
export const outsideFolder = 'it is outside the bundle’s folder';
/** A deflated entry larger than this must have a compression ratio below `bombFactor`: text has 3 to 30. */
const bombBytes = 4 * 1024 * 1024;
const bombFactor = 200;
const largestDirectory = 16 * 1024 * 1024;
/** Deflated entries are inflated in memory; larger ones must be stored, as `pack` does. */
const inflateLimit = 128 * 1024 * 1024;

export class ZipSource implements BundleSource {
  readonly sizes = new Map<string, number>();
  readonly unfinished: readonly string[] = [];
  readonly refused = new Map<string, string>();
  readonly #window: ByteWindow;
  readonly #entries = new Map<string, Entry>();
  readonly #directoryOffset: number;

  /** Takes ownership of the window. Throws `malformed-input` or `over-limit` for an invalid directory. */
  constructor(window: ByteWindow) {
    this.#window = window;
    const { entries, offset } = readDirectory(window);
    this.#directoryOffset = offset;
    refuseOverlaps(entries, offset);
    for (const entry of entries) this.#take(entry);
  }

  read(name: string, limit: number): Buffer {
    const entry = this.#require(name);
    requireWithin(name, entry.uncompressedSize, limit);
    const data = Buffer.allocUnsafeSlow(entry.compressedSize);
    if (this.#window.read(data, this.#dataOffset(entry)) !== data.length)
      throw malformed('data', entry.localOffset, 'it ends before its data does');
    const bytes = entry.method === zipMethods.stored ? data : inflate(entry, data);
    if (crc32(bytes) !== entry.crc) throw malformed('crc', entry.localOffset, 'its CRC-32 is another');
    return bytes;
  }

  open(name: string): PartFile {
    const entry = this.#require(name);
    if (entry.method !== zipMethods.stored) return inMemory(this.read(name, inflateLimit));
    const start = this.#dataOffset(entry);
    const bytes = entry.uncompressedSize;
    const read = (target: Uint8Array, position: number) => {
      const wanted = Math.min(target.length, bytes - position);
      return wanted > 0 ? this.#window.read(target.subarray(0, wanted), start + position) : 0;
    };
    const { fd } = this.#window;
    const file = fd === undefined ? {} : { file: { fd, start } };
    return { bytes, read, chunks: chunksIn(bytes, read), ...file, close: () => {} };
  }

  close(): void {
    this.#window.close();
  }

  #take(entry: Entry): void {
    if (entry.problem !== undefined) this.refused.set(entry.name, entry.problem);
    else if (this.#entries.has(entry.name)) {
      // Two entries with one name are ambiguous: tools differ in which of them they use.
      this.#entries.delete(entry.name);
      this.sizes.delete(entry.name);
      this.refused.set(entry.name, 'two entries have this name');
    } else if (!this.refused.has(entry.name)) {
      this.#entries.set(entry.name, entry);
      this.sizes.set(entry.name, entry.uncompressedSize);
    }
  }

  #require(name: string): Entry {
    const entry = this.#entries.get(name);
    if (!entry) throw malformed('name', 0, 'no entry has this name');
    return entry;
  }

  /** The local header must agree with the directory. */
  #dataOffset(entry: Entry): number {
    const header = Buffer.alloc(localHeader.size + entry.rawName.length);
    const count = this.#window.read(header, entry.localOffset);
    if (count !== header.length || header.readUInt32LE(0) !== localHeader.signature)
      throw malformed('local header', entry.localOffset, 'there is none where the directory says');
    const { flags, method, nameLength, extraLength } = localHeader;
    const name = header.toString('latin1', localHeader.size);
    if (header.readUInt16LE(nameLength) !== entry.rawName.length || name !== entry.rawName)
      throw malformed('name', entry.localOffset, 'directory and local header name it differently');
    if (header.readUInt16LE(method) !== entry.method || header.readUInt16LE(flags) !== entry.flags)
      throw malformed('method', entry.localOffset, 'directory and local header differ on how it is packed');
    if (!(entry.flags & zipFlags.sizesFollow)) requireEqualSizes(header, entry);
    const start = entry.localOffset + header.length + header.readUInt16LE(extraLength);
    if (start + entry.compressedSize > this.#directoryOffset)
      throw malformed('compressed size', entry.localOffset, 'its data reaches into the directory');
    return start;
  }
}

function requireEqualSizes(header: Buffer, entry: Entry): void {
  const { crc, compressedSize, uncompressedSize } = localHeader;
  const isEqual =
    header.readUInt32LE(crc) === entry.crc &&
    header.readUInt32LE(compressedSize) === entry.compressedSize &&
    header.readUInt32LE(uncompressedSize) === entry.uncompressedSize;
  if (!isEqual) throw malformed('sizes', entry.localOffset, 'directory and local header differ on its size');
}

function inflate(entry: Entry, data: Buffer): Buffer {
  let bytes: Buffer;
  try {
    bytes = inflateRawSync(data, { maxOutputLength: Math.max(entry.uncompressedSize, 1) });
  } catch (error) {
    throw malformed('data', entry.localOffset, 'it does not inflate to the size that it claims', error);
  }
  if (bytes.length !== entry.uncompressedSize)
    throw malformed('data', entry.localOffset, 'it inflates to less than it claims');
  return bytes;
}

function inMemory(bytes: Buffer): PartFile {
  const read = (target: Uint8Array, position: number) => bytes.copy(target, 0, position);
  return { bytes: bytes.length, read, chunks: chunksIn(bytes.length, read), close: () => {} };
}

function readDirectory(window: ByteWindow): { entries: Entry[]; offset: number } {
  const end = findEndRecord(window);
  const { record, at } = end;
  const entries = record.readUInt16LE(endRecord.entries);
  const size = record.readUInt32LE(endRecord.directorySize);
  const offset = record.readUInt32LE(endRecord.directoryOffset);
  if (offset === zip64Marker || entries === 0xffff)
    throw malformed('directory', at, 'it is a zip64 file, which no packed bundle is');
  if (record.readUInt16LE(endRecord.disk) !== 0 || record.readUInt16LE(endRecord.entriesHere) !== entries)
    throw malformed('disks', at, 'it is one of several volumes');
  if (offset + size !== at)
    throw malformed('directory', at, 'its directory is not where its end record says');
  if (entries * centralHeader.size > size)
    throw malformed('entries', at, `${entries} entries do not fit into ${size} bytes`);
  if (entries > mostFiles || size > largestDirectory)
    throw new AgentdumpError('over-limit', `it has ${entries} entries, more than ${mostFiles}`, {
      limit: 'zip entries',
      wanted: entries,
      allowed: mostFiles,
    });
  const bytes = Buffer.allocUnsafeSlow(size);
  if (window.read(bytes, offset) !== size) throw malformed('directory', offset, 'it ends in its directory');
  return { entries: withoutSharedFolder(readEntries(bytes, entries, offset)), offset };
}

/** The record is at the very end, except for a comment whose length it contains. */
function findEndRecord(window: ByteWindow): { record: Buffer; at: number } {
  const tail = Buffer.alloc(Math.min(window.size, endRecord.size + endRecord.longestComment));
  const start = window.size - tail.length;
  const count = window.read(tail, start);
  for (let at = count - endRecord.size; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== endRecord.signature) continue;
    const commentEnd = at + endRecord.size + tail.readUInt16LE(at + endRecord.commentLength);
    if (commentEnd === count) return { record: tail.subarray(at, at + endRecord.size), at: start + at };
  }
  throw malformed('end record', window.size, 'it has no zip directory at its end: no zip file, or cut short');
}

function readEntries(bytes: Buffer, count: number, offset: number): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + centralHeader.size > bytes.length || bytes.readUInt32LE(at) !== centralHeader.signature)
      throw malformed('directory entry', offset + at, 'there is none where one must be');
    const end = at + centralHeader.size + bytes.readUInt16LE(at + centralHeader.nameLength);
    const next =
      end +
      bytes.readUInt16LE(at + centralHeader.extraLength) +
      bytes.readUInt16LE(at + centralHeader.commentLength);
    if (next > bytes.length)
      throw malformed('directory entry', offset + at, 'it reaches beyond the directory');
    const rawName = bytes.toString('latin1', at + centralHeader.size, end);
    if (!rawName.endsWith('/')) entries.push(readEntry(bytes.subarray(at, end), rawName));
    at = next;
  }
  if (at !== bytes.length)
    throw malformed('directory', offset + at, 'its directory is longer than its entries');
  return entries;
}

function readEntry(header: Buffer, rawName: string): Entry {
  const entry = {
    rawName,
    name: rawName,
    flags: header.readUInt16LE(centralHeader.flags),
    method: header.readUInt16LE(centralHeader.method),
    crc: header.readUInt32LE(centralHeader.crc),
    compressedSize: header.readUInt32LE(centralHeader.compressedSize),
    uncompressedSize: header.readUInt32LE(centralHeader.uncompressedSize),
    localOffset: header.readUInt32LE(centralHeader.localOffset),
  };
  const problem = problemOf(entry, header);
  return problem === undefined ? entry : { ...entry, problem };
}

function problemOf(entry: Entry, header: Buffer): string | undefined {
  const { flags, method, compressedSize, uncompressedSize } = entry;
  if (flags & zipFlags.encrypted) return 'it is encrypted with zip’s own cipher';
  if (method !== zipMethods.stored && method !== zipMethods.deflated)
    return `it is packed by method ${method}`;
  if (method === zipMethods.stored && compressedSize !== uncompressedSize)
    return 'it is stored with two sizes';
  if (uncompressedSize > bombBytes && uncompressedSize > compressedSize * bombFactor)
    return `${compressedSize} bytes that claim to be ${uncompressedSize}: a decompression bomb`;
  const isUnix = header.readUInt16LE(centralHeader.madeBy) >> 8 === unixMadeBy;
  const type = (header.readUInt32LE(centralHeader.externalAttributes) >>> 16) & unixFileTypes.mask;
  if (isUnix && type !== 0 && type !== unixFileTypes.file) return 'it is a link or another special file';
  return undefined;
}

/** `pack` and most tools prefix each name with the bundle's folder; both forms are accepted. */
function withoutSharedFolder(entries: Entry[]): Entry[] {
  const anchors = [manifestName, progressName, partNames.trigger];
  const first = entries.find((entry) =>
    anchors.some((name) => entry.rawName === name || entry.rawName.endsWith(`/${name}`)),
  );
  const folder = first?.rawName.slice(0, first.rawName.lastIndexOf('/') + 1) ?? '';
  return entries.map((entry) => {
    if (!entry.rawName.startsWith(folder)) return { ...entry, problem: outsideFolder };
    const name = entry.rawName.slice(folder.length);
    return isPartName(name) ? { ...entry, name } : { ...entry, name, problem: 'no part has such a name' };
  });
}

/** Entries that share bytes inflate without end (Fifield, "A better zip bomb", WOOT 2019). */
function refuseOverlaps(entries: Entry[], directoryOffset: number): void {
  const inOrder = [...entries].sort((a, b) => a.localOffset - b.localOffset);
  for (const [i, entry] of inOrder.entries()) {
    const end = entry.localOffset + localHeader.size + entry.rawName.length + entry.compressedSize;
    const limit = inOrder[i + 1]?.localOffset ?? directoryOffset;
    if (end > limit) throw malformed('offset', entry.localOffset, 'its entries overlap');
  }
}

function malformed(field: string, offset: number, reason: string, cause?: unknown): MalformedInput {
  return new MalformedInput(reason, { format: 'zip', field, offset }, cause);
}
