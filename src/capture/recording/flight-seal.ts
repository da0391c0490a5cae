/** Seals the flight recorder's content for whom the bundles are for: its key goes into an age file in the journal. */
import { AgeStream } from '../../bundle/write/age-encrypt.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import { RecordSeal } from '../../journal/write/seal.ts';

/**
 * A passphrase costs its scrypt at the first record that has content, once a process, a tenth of a second: a program that
 * ends before its recorder begins pays nothing.
 */
export function sealFor(lock: Lock): RecordSeal {
  return new RecordSeal((key) => {
    const pieces: Buffer[] = [];
    const stream = new AgeStream((bytes) => pieces.push(Buffer.from(bytes)), lock);
    stream.write(key);
    stream.end();
    return Buffer.concat(pieces);
  });
}
