/**
 * Encrypts a journal's records for somebody who is not there: with a key of this process alone, which is kept in memory
 * and written down only as its recipient can read it. What a finisher needs to tell how the process died stays clear
 * (FORMAT.md, "Sealed records"). Loads node:crypto, and is made only where there is a recipient.
 */
import { AgentdumpError } from '../../errors.ts';
import { recordFrame, sealing } from '../layout/journal.ts';
import { kindsLeftClear } from '../layout/records.ts';

/** Some hundreds of recipients. The record of the key must fit into the writer's buffer, and any segment. */
const longestKeyRecord = 48 * 1024;

export class RecordSeal {
  readonly #wrap: (key: Uint8Array) => Uint8Array;
  readonly #crypto = process.getBuiltinModule('node:crypto') as typeof import('node:crypto');
  readonly #key = this.#crypto.randomBytes(sealing.keyBytes);
  readonly #nonce = Buffer.alloc(sealing.nonceBytes);
  #wrapped: Uint8Array | undefined;

  /** `wrap` makes an age file of the key; called once, at the first record that is sealed. */
  constructor(wrap: (key: Uint8Array) => Uint8Array) {
    this.#wrap = wrap;
  }

  leavesClear(kind: number): boolean {
    return kindsLeftClear.has(kind);
  }

  /** Payload of the record that must stand before the first sealed one of a segment. Throws what `wrap` throws. */
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
   * Encrypts the payload where it lies; its last `sealing.tagBytes` are for the tag. The record's frame begins `at` this
   * place of `frames` and is complete but for its checksum. A number is never used twice in a journal, so no nonce is.
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
