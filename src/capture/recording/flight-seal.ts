/**
 * Encrypts the flight recorder's content for the recipients of the bundles: its key is stored as an age file in the journal.
 */
import { AgeStream } from '../../bundle/write/age-encrypt.ts';
import type { Lock } from '../../bundle/write/age-key.ts';
import { RecordSeal } from '../../journal/write/seal.ts';

/**
 * With a passphrase, scrypt runs at the first record that has content, once per process, and takes a tenth of a second: a
 * program that ends before its recorder begins pays nothing.
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
