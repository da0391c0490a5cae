/**
 * The age file format, version 1, as far as bundles use it: C2SP's age.md, sections "Header", "The X25519 recipient type",
 * "The scrypt recipient type", "Payload". Quoted names below are strings from the specification.
 */
export const ageVersionLine = 'age-encryption.org/v1\n';
export const ageLabels = {
  x25519: 'age-encryption.org/v1/X25519',
  scrypt: 'age-encryption.org/v1/scrypt',
  header: 'header',
  payload: 'payload',
} as const;

export const fileKeySize = 16;
export const nonceSize = 16;
export const tagSize = 16;
export const chunkSize = 64 * 1024;
export const ageCipher = 'chacha20-poly1305';
/** Columns of base64 in the body of a stanza. The last line is shorter, possibly empty. */
export const bodyColumns = 64;

export const recipientPrefix = 'age';
export const identityPrefix = 'age-secret-key-';
export const scryptSaltSize = 16;
/** scrypt's r; p is 1. It takes 1 KiB times two to the power of the work factor. */
export const scryptBlockSize = 8;

/** The nonce of a chunk: its number, big-endian in 11 bytes, and a byte that marks the last chunk. */
export function chunkNonce(index: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(index, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
