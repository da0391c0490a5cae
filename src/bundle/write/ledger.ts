/**
 * Appends to the ledger beside the bundles, in the dying process and in a supervisor. There is no lock: a line is appended
 * with one write, and covers the bytes that its writer saw. Of two simultaneous lines the second covers less, and the next
 * line covers both. Reading and verifying is done by verify-ledger.ts.
 */

import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { randomBytes } from '../../platform/kernel-random.ts';
import { type Sha256, startSha256 } from '../../platform/sha256.ts';
import { unfinishedSuffix } from '../layout/bundle.ts';
import {
  type LedgerBundle,
  type LedgerCover,
  type LedgerGenesis,
  type LedgerRecord,
  type LedgerRemoval,
  type LedgerSeal,
  ledgerDomains,
  ledgerName,
  ledgerSchema,
  sealedText,
} from '../layout/ledger.ts';
import { writeNewFile } from './new-file.ts';
import { ensureDumpFolder, openStateFile, unwritable } from './safe-folder.ts';
import {
  closeSync,
  failureCode,
  fstatSync,
  isoTime,
  loadCrypto,
  lstatSync,
  nowMs,
  readSync,
  writeSync,
} from './system.ts';

/** Enough for a hundred thousand bundles. Nothing is appended beyond it, because each line hashes everything before it. */
const longestLedger = 64 * 1024 * 1024;

/** The head after appending: `<lines>:<sha256>`. Stored elsewhere, it proves everything before it. */
export type LedgerHead = string;

/** Throws `unwritable`. */
export function appendBundle(
  dir: string,
  entry: Omit<LedgerBundle, keyof LedgerCover | 'sealedAt'>,
): LedgerHead {
  const sealedAt = isoTime(nowMs());
  return append(dir, (cover) => ({ ...entry, sealedAt, ...cover }) satisfies LedgerBundle);
}

/** Called before retention removes a bundle. A folder without a ledger does not get one for this. Never throws. */
export function appendRemoval(dir: string, name: string): void {
  try {
    if (!lstatSync(join(dir, ledgerName), { throwIfNoEntry: false })) return;
    append(
      dir,
      (cover) => ({ removed: name, removedAt: isoTime(nowMs()), ...cover }) satisfies LedgerRemoval,
    );
  } catch {
    // The bundle is removed anyway: a full disk is the reason for it. `verify` will report it as missing.
  }
}

/** Signs the whole ledger with an Ed25519 private key in PEM. Throws `unwritable`, and `usage` for any other key. */
export function sealLedger(dir: string, privateKeyPem: string): LedgerHead {
  const crypto = loadCrypto();
  const privateKey = readPrivateKey(privateKeyPem);
  const jwk = crypto.createPublicKey(privateKey).export({ format: 'jwk' });
  const key = Buffer.from(jwk.x ?? '', 'base64url').toString('base64');
  return append(dir, (cover, ledgerId): LedgerSeal => {
    const text = Buffer.from(sealedText(ledgerId, cover));
    const signature = crypto.sign(null, text, privateKey).toString('base64');
    return { seal: 'ed25519', key, signature, sealedAt: isoTime(nowMs()), ...cover };
  });
}

function readPrivateKey(pem: string) {
  try {
    const key = loadCrypto().createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The message must not contain anything of the key.
  }
  throw new AgentdumpError('usage', 'not an Ed25519 private key in PEM', { argument: 'key' });
}

function append(dir: string, make: (cover: LedgerCover, ledgerId: string) => LedgerRecord): LedgerHead {
  const path = join(ensureDumpFolder(dir), ledgerName);
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })) createLedger(path);
    const fd = openStateFile(path);
    try {
      return appendTo(fd, make);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    throw unwritable(path, failureCode(error), error);
  }
}

function createLedger(path: string): void {
  const id = randomBytes(16).toString('hex');
  const genesis: LedgerGenesis = { ledger: ledgerSchema, id, createdAt: isoTime(nowMs()) };
  try {
    // Under a unique name: another dying process may be creating it too.
    writeNewFile(path, (put) => put(Buffer.from(ledgerLine(genesis))), `${path}.${id}${unfinishedSuffix}`);
  } catch (error) {
    if (!lstatSync(path, { throwIfNoEntry: false })) throw error;
  }
}

function appendTo(fd: number, make: (cover: LedgerCover, ledgerId: string) => LedgerRecord): LedgerHead {
  const seen = readFrom(fd, 0);
  const hash = startHash(ledgerDomains.head).update(seen);
  const cover = { covers: seen.length, before: hash.copy().digest('hex'), count: countLines(seen) };
  // A line that was torn by its writer's death must not swallow this one.
  const isTorn = seen.length > 0 && seen[seen.length - 1] !== newline;
  const line = Buffer.from((isTorn ? '\n' : '') + ledgerLine(make(cover, ledgerIdOf(seen))));
  if (writeSync(fd, line) !== line.length) throw new Error('the line was torn');
  const after = readFrom(fd, seen.length);
  const end = after.indexOf(line) + line.length;
  return `${countLines(seen) + countLines(after.subarray(0, end))}:${hash.update(after.subarray(0, end)).digest('hex')}`;
}

const newline = 0x0a;

export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count++;
  return count;
}

/** Reads it from the first line. Nothing is appended to a ledger whose first line is damaged. */
function ledgerIdOf(bytes: Buffer): string {
  const id = /"id":"([0-9a-f]{32})"/.exec(bytes.toString('latin1', 0, 300))?.[1];
  if (!id) throw new Error('its first line is damaged');
  return id;
}

function readFrom(fd: number, start: number): Buffer {
  const { size } = fstatSync(fd);
  if (size > longestLedger) throw new Error(`it has more than ${longestLedger} bytes`);
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, size - start));
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start));
}

function ledgerLine(record: LedgerRecord): string {
  const json = JSON.stringify(record);
  return `${startHash(ledgerDomains.line).update(json).digest('hex')} ${json}\n`;
}

export function startHash(domain: string): Sha256 {
  return startSha256().update(`${domain}\0`);
}
