/**
 * Encrypts a journal's records for an absent recipient, with a key of this process that is kept in memory and only stored in
 * encrypted form, readable by the recipient. What a finisher needs to determine how the process died is not encrypted
 * (FORMAT.md, "Sealed records"). Loads node:crypto, and is only created if there is a recipient.
 */
import { AgentdumpError } from '../../errors.ts';
import { recordFrame, sealing } from '../layout/journal.ts';
import { kindsLeftClear } from '../layout/records.ts';

/** Enough for some hundreds of recipients. The record of the key must fit into the writer's buffer, and into any segment. */
const longestKeyRecord = 48 * 1024;

export class RecordSeal {
  readonly #wrap: (key: Uint8Array) => Uint8Array;
  readonly #crypto = process.getBuiltinModule('node:crypto') as typeof import('node:crypto');
  readonly #key = this.#crypto.randomBytes(sealing.keyBytes);
  readonly #nonce = Buffer.alloc(sealing.nonceBytes);
  #wrapped: Uint8Array | undefined;

  /** `wrap` encrypts the key into an age file. It is called once, for the first sealed record. */
  constructor(wrap: (key: Uint8Array) => Uint8Array) {
    this.#wrap = wrap;
  }

  leavesClear(kind: number): boolean {
    return kindsLeftClear.has(kind);
  }

  /** The payload of the record that must precede the first sealed one of a segment. Throws whatever `wrap` throws. */
  keyRecord(): Uint8Array {
    if (this.#wrapped) return this.#wrapped;
    const wrapped = this.#wrap(this.#key);
    if (wrapped.length > longestKeyRecord)
      throw new AgentdumpError('over-limit', 'too many recipients to seal a journal for', {
        limit: 'journal key',
        wanted: wrapped.length,
        allowed: longestKeyRecord,
      });
    this.#wrapped = wrapped;
    return wrapped;
  }

  /**
   * Encrypts the payload in place; its last `sealing.tagBytes` are reserved for the tag. The record's frame begins at offset
   * `at` of `frames` and is complete except for the checksum. The nonce is the record's number, which is never reused within
   * a journal.
   */
  close(frames: Buffer, at: number, payload: Uint8Array): void {
    frames.copy(this.#nonce, 0, at + recordFrame.seq, at + recordFrame.seq + 8);
    const { cipher: name, tagBytes: authTagLength, boundStart, boundEnd } = sealing;
    const cipher = this.#crypto.createCipheriv(name, this.#key, this.#nonce, { authTagLength });
    cipher.setAAD(frames.subarray(at + boundStart, at + boundEnd));
    const plain = payload.subarray(0, payload.length - authTagLength);
    payload.set(cipher.update(plain));
    cipher.final();
    payload.set(cipher.getAuthTag(), plain.length);
  }
}
