/**
 * Builds zip files field by field; any field can be made wrong. Little-endian records of PKWARE's APPNOTE.TXT, restated here
 * so that reader and test can't share a mistake.
 */
import { crc32, deflateRawSync } from 'node:zlib';

export interface SynthEntry {
  name: string;
  content: Buffer;
  /** 8: deflated; 0: stored. */
  method?: number;
  flags?: number;
  /**
   * Overrides the true fields in the directory and the local header; `localLies` then overrides those of the local header
   * alone.
   */
  lies?: Partial<HeaderFields>;
  localLies?: Partial<HeaderFields>;
  mode?: number;
  localOffset?: number;
  extra?: Buffer;
}

interface HeaderFields {
  name: string;
  method: number;
  flags: number;
  crc: number;
  compressedSize: number;
  uncompressedSize: number;
  nameLength: number;
  extraLength: number;
}

export interface SynthEnd {
  disk: number;
  entriesHere: number;
  entries: number;
  size: number;
  offset: number;
  commentLength: number;
}

const u16 = (value: number) => [value & 0xff, (value >>> 8) & 0xff];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];

function sharedFields(f: HeaderFields): number[] {
  return [
    ...u16(f.flags),
    ...u16(f.method),
    ...u32(0),
    ...u32(f.crc),
    ...u32(f.compressedSize),
    ...u32(f.uncompressedSize),
    ...u16(f.nameLength),
    ...u16(f.extraLength),
  ];
}

export function synthZip(
  entries: SynthEntry[],
  options: { end?: Partial<SynthEnd>; comment?: string; prefix?: Buffer } = {},
): Buffer {
  const chunks: Buffer[] = [options.prefix ?? Buffer.alloc(0)];
  const directory: Buffer[] = [];
  let at = chunks[0]!.length;
  for (const entry of entries) {
    const data = entry.method === 8 ? deflateRawSync(entry.content) : entry.content;
    const extra = entry.extra ?? Buffer.alloc(0);
    const truth: HeaderFields = {
      name: entry.name,
      method: entry.method ?? 0,
      flags: entry.flags ?? 0x800,
      crc: crc32(entry.content),
      compressedSize: data.length,
      uncompressedSize: entry.content.length,
      nameLength: Buffer.byteLength(entry.name),
      extraLength: extra.length,
    };
    const told = { ...truth, ...entry.lies };
    const local = { ...told, ...entry.localLies };
    const header = Buffer.from([...u32(0x04034b50), ...u16(20), ...sharedFields(local)]);
    const offset = entry.localOffset ?? at;
    const attributes = u32((entry.mode ?? 0o100600) << 16);
    const shared = sharedFields({ ...told, extraLength: 0 });
    directory.push(
      Buffer.from([
        ...u32(0x02014b50),
        ...u16(0x0314),
        ...u16(20),
        ...shared,
        ...u16(0),
        ...u16(0),
        ...u16(0),
      ]),
      Buffer.from([...attributes, ...u32(offset)]),
      Buffer.from(told.name),
    );
    const written = [header, Buffer.from(local.name), extra, data];
    chunks.push(...written);
    at += written.reduce((sum, chunk) => sum + chunk.length, 0);
  }
  const size = directory.reduce((sum, chunk) => sum + chunk.length, 0);
  const comment = Buffer.from(options.comment ?? '');
  const end: SynthEnd = {
    disk: 0,
    entriesHere: entries.length,
    entries: entries.length,
    size,
    offset: at,
    commentLength: comment.length,
    ...options.end,
  };
  const record = [
    ...u32(0x06054b50),
    ...u16(end.disk),
    ...u16(end.disk),
    ...u16(end.entriesHere),
    ...u16(end.entries),
    ...u32(end.size),
    ...u32(end.offset),
    ...u16(end.commentLength),
  ];
  return Buffer.concat([...chunks, ...directory, Buffer.from(record), comment]);
}
