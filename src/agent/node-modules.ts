/**
 * Modules of Node that the preload needs only once there is something to record. Loading them at startup would cost every
 * short-lived command several milliseconds.
 */
import type AsyncHooks from 'node:async_hooks';
import type Crypto from 'node:crypto';
import type PerfHooks from 'node:perf_hooks';
import type Zlib from 'node:zlib';

const cache = new Map<string, unknown>();

function load<Module>(name: string): Module {
  let found = cache.get(name);
  if (found === undefined) {
    found = process.getBuiltinModule(name);
    cache.set(name, found);
  }
  return found as Module;
}

export const asyncHooks = () => load<typeof AsyncHooks>('node:async_hooks');
export const perfHooks = () => load<typeof PerfHooks>('node:perf_hooks');
export const zlib = () => load<typeof Zlib>('node:zlib');

/** A SHA-256 hash of bytes that arrive in pieces. */
export const startHash = () => load<typeof Crypto>('node:crypto').createHash('sha256');

/** A hash of a text or of bytes, in lower-case hexadecimal. */
export function hashOf(algorithm: 'sha1' | 'sha256', data: string | Uint8Array): string {
  const crypto = load<typeof Crypto>('node:crypto');
  // `crypto.hash` creates no object and is many times faster on short texts. Node has it since 20.12.
  return crypto.hash ? crypto.hash(algorithm, data) : crypto.createHash(algorithm).update(data).digest('hex');
}
