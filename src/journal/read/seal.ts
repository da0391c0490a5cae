/**
 * Opens sealed records with the key that is stored in their journal (FORMAT.md, "Sealed records"). Knows nothing of age: the
 * caller that opens the bundle decrypts the key.
 */
import { createDecipheriv } from 'node:crypto';
import { recordFrame, sealing } from '../layout/journal.ts';

/** The contents of an age file; undefined if none of the available keys opens it. Never throws. */
export type Unseal = (ageFile: Uint8Array) => Uint8Array | undefined;

export class SealReader {
  readonly #unseal: Unseal | undefined;
  #wrapped = Buffer.alloc(0);
  #key: Uint8Array | undefined;

  constructor(unseal: Unseal | undefined) {
    this.#unseal = unseal;
  }

  /** Each segment repeats the key. A process that continues the journal uses a key of its own. */
  takeKey(wrapped: Uint8Array): void {
    if (this.#wrapped.equals(wrapped)) return;
    this.#wrapped = Buffer.from(wrapped);
    const key = this.#unseal?.(wrapped);
    this.#key = key?.length === sealing.keyBytes ? key : undefined;
  }

  get hasKey(): boolean {
    return this.#key !== undefined;
  }

  /** `frame`: the 32 bytes of the record's frame. Undefined without the key, or if the key is wrong. */
  open(frame: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    const { cipher: name, tagBytes: authTagLength, nonceBytes, boundStart, boundEnd } = sealing;
    const plainBytes = sealed.length - authTagLength;
    if (!this.#key || plainBytes < 0) return undefined;
    const nonce = Buffer.alloc(nonceBytes);
    nonce.set(frame.subarray(recordFrame.seq, recordFrame.seq + 8));
    const decipher = createDecipheriv(name, this.#key, nonce, { authTagLength });
    decipher.setAAD(frame.subarray(boundStart, boundEnd));
    decipher.setAuthTag(sealed.subarray(plainBytes));
    const plain = decipher.update(sealed.subarray(0, plainBytes));
    try {
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  }
}
