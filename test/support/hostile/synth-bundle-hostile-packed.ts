/** Hostile packed bundles and age files: each has one wrong field, or is cut, duplicated or padded in one place. */
import { gzipSync } from 'node:zlib';
import { synthFiles, synthTrigger } from '../synth/synth-bundle.ts';
import { type SynthEntry, synthZip } from '../synth/synth-zip.ts';
import type { HostileInput } from './synth-bundle-hostile.ts';

const victim = 'error.json';

function entries(): SynthEntry[] {
  const parts = { 'trigger.json': synthTrigger, [victim]: { error: { type: 'object', isError: true } } };
  return [...synthFiles({ parts })].map(([name, content]) => ({ name, content, method: 8 }));
}

function file(path: string, bytes: Buffer, says: RegExp, exit: 1 | 3): HostileInput {
  return { path, files: new Map([['', bytes]]), says, exit };
}

const refused = (fault: string, bytes: Buffer, says: RegExp) => file(`packed/${fault}.zip`, bytes, says, 3);

/** One wrong entry: the rest is still read. */
function lying(fault: string, lie: Partial<SynthEntry>, says: RegExp): HostileInput {
  const zip = synthZip(entries().map((entry) => (entry.name === victim ? { ...entry, ...lie } : entry)));
  return file(`packed/${fault}.zip`, zip, says, 1);
}

/** One additional entry. */
function withExtra(fault: string, name: string, extra: Partial<SynthEntry> = {}): HostileInput {
  const entry = { name, content: Buffer.from('x'), ...extra };
  return file(`packed/${fault}.zip`, synthZip([...entries(), entry]), /left alone/, 1);
}

export function packedFaults(): HostileInput[] {
  const whole = synthZip(entries());
  return [...directoryFaults(whole), ...entryFaults(), ...ageFaults()];
}

function directoryFaults(whole: Buffer): HostileInput[] {
  const zip = (options: Parameters<typeof synthZip>[1]) => synthZip(entries(), options);
  const empties = Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}`, content: Buffer.alloc(0) }));
  return [
    refused('empty-file', Buffer.alloc(0), /cut short/),
    refused('not-a-zip', Buffer.from('GIF89a no zip at all'), /cut short/),
    refused('a-gzip', gzipSync(whole), /cut short/),
    refused('cut-in-the-middle', whole.subarray(0, whole.length >> 1), /cut short/),
    refused('cut-by-one-byte', whole.subarray(0, -1), /cut short/),
    refused('bytes-after-the-end', Buffer.concat([whole, Buffer.from('more')]), /cut short/),
    refused(
      'program-before-the-start',
      zip({ prefix: Buffer.from('#!/bin/sh\nexit 1\n'), end: { offset: 0 } }),
      /directory is not where/,
    ),
    refused('directory-elsewhere', zip({ end: { offset: 7 } }), /directory is not where/),
    refused('directory-of-4-gigabytes', zip({ end: { size: 0xfffffff0 } }), /directory is not where/),
    refused('counts-60000-entries', zip({ end: { entries: 60_000, entriesHere: 60_000 } }), /do not fit/),
    refused(
      'counts-too-few-entries',
      zip({ end: { entries: 1, entriesHere: 1 } }),
      /longer than its entries/,
    ),
    refused('zip64', zip({ end: { entries: 0xffff, offset: 0xffffffff } }), /zip64/),
    refused('several-volumes', zip({ end: { disk: 3 } }), /volumes/),
    refused('entries-overlap', synthZip(entries().map((entry) => ({ ...entry, localOffset: 0 }))), /overlap/),
    refused('ten-thousand-entries', synthZip(empties), /10000/),
    refused('no-entries', synthZip([]), /no bundle/),
    refused(
      'no-bundle-inside',
      synthZip([{ name: 'readme.txt', content: Buffer.from('hello') }]),
      /no bundle/,
    ),
    refused(
      'comment-holds-an-end-record',
      zip({ comment: `PK\u0005\u0006${'\0'.repeat(18)}` }),
      /directory is not where/,
    ),
  ];
}

function entryFaults(): HostileInput[] {
  const bomb = Buffer.alloc(20_000_000);
  return [
    lying('bomb-of-1000-to-1', { content: bomb }, /decompression bomb/),
    lying('bomb-that-claims-little', { content: bomb, lies: { uncompressedSize: 100 } }, /does not inflate/),
    lying('claims-4-gigabytes', { lies: { uncompressedSize: 0xfffffff0 } }, /decompression bomb/),
    lying('claims-more-than-it-holds', { lies: { uncompressedSize: 5000 } }, /inflates to less/),
    lying('stored-with-two-sizes', { method: 0, lies: { uncompressedSize: 3 } }, /two sizes/),
    lying('checksum-differs', { lies: { crc: 1 } }, /CRC-32/),
    lying('local-name-differs', { localLies: { name: 'other.json' } }, /name it differently/),
    lying('local-size-differs', { localLies: { uncompressedSize: 1 } }, /differ on its size/),
    lying('local-extra-reaches-on', { localLies: { extraLength: 0xffff } }, /reaches into the directory/),
    lying('no-deflate-stream', { lies: { method: 8 }, method: 0 }, /does not inflate/),
    lying('method-unknown', { lies: { method: 99 } }, /method 99/),
    lying('zip-cipher', { lies: { flags: 0x801 } }, /encrypted/),
    lying('a-link', { mode: 0o120777, content: Buffer.from('/etc/passwd'), method: 0 }, /link/),
    lying('a-device', { mode: 0o060600 }, /special file/),
    withExtra('path-upwards', '../../evil.js'),
    withExtra('path-absolute', '/etc/cron.d/evil'),
    withExtra('path-of-windows', '..\\..\\evil.js'),
    withExtra('path-with-a-nul', 'evil\u0000.json'),
    withExtra('path-with-escapes', '\u001b[31mevil\u0007'),
    withExtra('path-too-deep', 'a/b/c/d'),
    withExtra('name-twice', victim),
    withExtra('outside-its-folder', 'elsewhere/x/trigger.json'),
  ];
}

function ageFaults(): HostileInput[] {
  const version = 'age-encryption.org/v1\n';
  const body = 'A'.repeat(43);
  const made = (fault: string, text: string) =>
    file(`encrypted/${fault}.zip.age`, Buffer.from(text), /is encrypted/, 3);
  return [
    made('header-cut', `${version}-> X25519 ${body}`),
    made(
      'work-factor-of-30',
      `${version}-> scrypt ${'A'.repeat(22)} 30\n${body}\n--- ${body}\n${'\0'.repeat(32)}`,
    ),
    made('header-without-end', version + '-> x\n\n'.repeat(2000)),
  ];
}
