/**
 * Writes a zip file in one pass to a callback: into memory in a dying process, into a file in `agentdump pack`. The layout is
 * in layout/zip.ts. Synchronous; node:zlib is loaded at the first entry.
 */
import { AgentdumpError } from '../../errors.ts';
import {
  centralHeader,
  endRecord,
  localHeader,
  mostZipEntries,
  unixFileTypes,
  unixMadeBy,
  zip64Marker,
  zipFlags,
  zipMethods,
} from '../layout/zip.ts';
import { loadZlib } from './system.ts';

const versionNeeded = 20;
const fileMode = unixFileTypes.file | 0o600;

/** What a header says about an entry's bytes. */
export interface PackedBytes {
  method: number;
  crc: number;
  compressedSize: number;
  uncompressedSize: number;
}

interface Entry extends PackedBytes {
  name: Buffer;
  offset: number;
}

/** Deflates at `level`, or stores the bytes if it is 0 or deflating gains nothing. */
export function packBytes(bytes: Uint8Array, level: number): PackedBytes & { data: Uint8Array } {
  const zlib = loadZlib();
  const deflated = level > 0 ? zlib.deflateRawSync(bytes, { level }) : bytes;
  const isSmaller = deflated.length < bytes.length;
  const data = isSmaller ? deflated : bytes;
  return {
    method: isSmaller ? zipMethods.deflated : zipMethods.stored,
    crc: zlib.crc32(bytes),
    compressedSize: data.length,
    uncompressedSize: bytes.length,
    data,
  };
}

/** The same for bytes that are stored and not all in memory. */
export function storedBytes(size: number, crc: number): PackedBytes {
  return { method: zipMethods.stored, crc, compressedSize: size, uncompressedSize: size };
}

export class ZipArchive {
  readonly #put: (bytes: Uint8Array) => void;
  readonly #time: number;
  readonly #date: number;
  readonly #entries: Entry[] = [];
  #offset = 0;

  /** `put` gets the bytes in order; all entries have the time `atMs`. */
  constructor(put: (bytes: Uint8Array) => void, atMs: number) {
    this.#put = put;
    ({ time: this.#time, date: this.#date } = dosTime(atMs));
  }

  /** Throws `over-limit` beyond 4 GiB. */
  add(name: string, packed: PackedBytes, data: Iterable<Uint8Array>): void {
    const end = this.#offset + localHeader.size + name.length + packed.compressedSize;
    if (
      end >= zip64Marker ||
      packed.uncompressedSize >= zip64Marker ||
      this.#entries.length >= mostZipEntries
    )
      throw new AgentdumpError('over-limit', 'a packed bundle holds at most 4 GiB', {
        limit: 'packed bytes',
        wanted: end,
        allowed: zip64Marker,
      });
    const entry = { ...packed, name: Buffer.from(name), offset: this.#offset };
    this.#entries.push(entry);
    this.#emit(this.#local(entry));
    for (const chunk of data) this.#emit(chunk);
  }

  /** Writes the directory. Nothing may be added afterwards. */
  end(): void {
    const start = this.#offset;
    for (const entry of this.#entries) this.#emit(this.#central(entry));
    const record = Buffer.alloc(endRecord.size);
    record.writeUInt32LE(endRecord.signature, 0);
    record.writeUInt16LE(this.#entries.length, endRecord.entriesHere);
    record.writeUInt16LE(this.#entries.length, endRecord.entries);
    record.writeUInt32LE(this.#offset - start, endRecord.directorySize);
    record.writeUInt32LE(start, endRecord.directoryOffset);
    this.#emit(record);
  }

  #local(entry: Entry): Buffer {
    const header = Buffer.alloc(localHeader.size);
    header.writeUInt32LE(localHeader.signature, 0);
    header.writeUInt16LE(versionNeeded, 4);
    this.#writeShared(header, localHeader.flags, entry);
    return Buffer.concat([header, entry.name]);
  }

  #central(entry: Entry): Buffer {
    const header = Buffer.alloc(centralHeader.size);
    header.writeUInt32LE(centralHeader.signature, 0);
    header.writeUInt16LE((unixMadeBy << 8) | versionNeeded, centralHeader.madeBy);
    header.writeUInt16LE(versionNeeded, centralHeader.versionNeeded);
    this.#writeShared(header, centralHeader.flags, entry);
    header.writeUInt32LE((fileMode << 16) >>> 0, centralHeader.externalAttributes);
    header.writeUInt32LE(entry.offset, centralHeader.localOffset);
    return Buffer.concat([header, entry.name]);
  }

  /** Eight fields that both headers have in the same order, from the flags to the length of the name. */
  #writeShared(header: Buffer, at: number, entry: Entry): void {
    header.writeUInt16LE(zipFlags.utf8, at);
    header.writeUInt16LE(entry.method, at + 2);
    header.writeUInt16LE(this.#time, at + 4);
    header.writeUInt16LE(this.#date, at + 6);
    header.writeUInt32LE(entry.crc, at + 8);
    header.writeUInt32LE(entry.compressedSize, at + 12);
    header.writeUInt32LE(entry.uncompressedSize, at + 16);
    header.writeUInt16LE(entry.name.length, at + 20);
  }

  #emit(bytes: Uint8Array): void {
    this.#put(bytes);
    this.#offset += bytes.length;
  }
}

/** MS-DOS time has no time zone, no odd seconds and no year before 1980 (APPNOTE 4.4.6). We use UTC. */
function dosTime(atMs: number): { time: number; date: number } {
  const at = new Date(Number.isFinite(atMs) ? atMs : 0);
  const year = Math.min(Math.max(at.getUTCFullYear(), 1980), 2107);
  return {
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    date: ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  };
}
