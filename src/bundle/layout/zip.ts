/**
 * The zip format as far as packed bundles use it: little-endian records of PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7
 * (local file header), 4.3.12 (central directory header) and 4.3.16 (end of central directory). No zip64, encryption or
 * spanning, because bundles don't need them.
 */

export const localHeader = {
  signature: 0x04034b50,
  size: 30,
  flags: 6,
  method: 8,
  crc: 14,
  compressedSize: 18,
  uncompressedSize: 22,
  nameLength: 26,
  extraLength: 28,
} as const;

export const centralHeader = {
  signature: 0x02014b50,
  size: 46,
  madeBy: 4,
  versionNeeded: 6,
  flags: 8,
  method: 10,
  time: 12,
  date: 14,
  crc: 16,
  compressedSize: 20,
  uncompressedSize: 24,
  nameLength: 28,
  extraLength: 30,
  commentLength: 32,
  diskStart: 34,
  externalAttributes: 38,
  localOffset: 42,
} as const;

export const endRecord = {
  signature: 0x06054b50,
  size: 22,
  disk: 4,
  directoryDisk: 6,
  entriesHere: 8,
  entries: 10,
  directorySize: 12,
  directoryOffset: 16,
  commentLength: 20,
  longestComment: 0xffff,
} as const;

export const zipFlags = { encrypted: 1, sizesFollow: 8, utf8: 0x800 } as const;
export const zipMethods = { stored: 0, deflated: 8 } as const;
/** In these fields, the value that means "see zip64". */
export const zip64Marker = 0xffffffff;
export const mostZipEntries = 0xfffe;

/** If the upper byte of `madeBy` is 3, the upper half of `externalAttributes` is the Unix mode. */
export const unixMadeBy = 3;
export const unixFileTypes = { mask: 0o170000, file: 0o100000, folder: 0o040000 } as const;
