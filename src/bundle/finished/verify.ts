/**
 * Verifies a bundle: every part has the bytes that the writer hashed, nothing is missing, and nothing was added. Whether
 * the manifest itself is the original can only be verified with the ledger (verify-ledger.ts).
 */
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { type Manifest, manifestName, progressName } from '../layout/bundle.ts';
import { ledgerName } from '../layout/ledger.ts';
import type { Keys } from '../read/age.ts';
import { type BundleReader, type FoundPart, openBundle } from '../read/reader.ts';
import { type LedgerOptions, type LedgerVerification, verifyLedgerFile } from './verify-ledger.ts';

export type PartState = 'whole' | 'altered' | 'missing' | 'unreadable' | 'unvouched';

export interface VerifiedPart {
  name: string;
  bytes: number;
  state: PartState;
  /** What is wrong, as a clause; absent for an intact part. */
  problem?: string;
}

export interface Verification {
  id: string;
  path: string;
  /**
   * whole: sealed, and every byte as written. torn: what is there is as written, but the rest is missing. altered: anything
   * else, or the ledger has another manifest.
   */
  verdict: 'whole' | 'torn' | 'altered';
  parts: VerifiedPart[];
  /** Files that are not in the manifest, and names that no part may have. */
  extra: string[];
  /** SHA-256 of the bytes of manifest.json, which the ledger contains, for a sealed bundle. */
  manifestSha256?: string;
  /** Why the ledger could not be used, if options for it were given. */
  ledgerProblem?: string;
  /** Absent if there is no ledger beside the bundle. */
  ledger?: LedgerVerification & {
    /** listed: with this manifest. differs: with another one. absent: missing, or no longer readable. */
    entry: 'listed' | 'differs' | 'absent';
  };
}

export interface VerifyOptions extends LedgerOptions {
  keys?: Keys;
  /** Path of the ledger; default: the one beside the bundle. */
  ledger?: string;
}

/** Throws what openBundle and verifyLedgerFile throw. */
export function verifyBundle(path: string, options: VerifyOptions = {}): Verification {
  const bundle = openBundle(path, options.keys);
  try {
    const found = verifyOpenBundle(bundle);
    const ledgerPath = options.ledger ?? join(dirname(resolve(path)), ledgerName);
    const ledger = verifyLedgerFile(ledgerPath, options);
    if (ledger) return withLedger(found, ledger);
    return isAsked(options) ? { ...found, ledgerProblem: noLedger(ledgerPath) } : found;
  } finally {
    bundle.close();
  }
}

function isAsked({ anchor, publicKey }: LedgerOptions): boolean {
  return anchor !== undefined || publicKey !== undefined;
}

export function noLedger(path: string): string {
  return `there is no ledger at ${path}: it was moved or deleted, or none was ever written`;
}

export function withLedger(found: Verification, ledger: LedgerVerification): Verification {
  const entry = entryOf(found, ledger);
  const verdict = entry === 'differs' ? 'altered' : found.verdict;
  return { ...found, verdict, ledger: { ...ledger, entry } };
}

export function verifyOpenBundle(bundle: BundleReader): Verification {
  const parts = [
    ...brokenManifest(bundle),
    ...bundle.parts.map((part) => verifyPart(bundle, part)),
    ...missingParts(bundle),
  ];
  const extra = extraFiles(bundle);
  const isIntact = parts.every((part) => part.state === 'whole' || part.state === 'unvouched');
  return {
    id: bundle.id,
    path: bundle.path,
    verdict: !isIntact || extra.length ? 'altered' : bundle.sealed ? 'whole' : 'torn',
    parts,
    extra,
    ...(bundle.sealed && { manifestSha256: hashFile(bundle, manifestName).sha256 }),
  };
}

function entryOf(found: Verification, ledger: LedgerVerification): 'listed' | 'differs' | 'absent' {
  const entries = ledger.bundles.filter((entry) => entry.bundle === found.id);
  if (entries.some((entry) => entry.manifest === found.manifestSha256)) return 'listed';
  return entries.length ? 'differs' : 'absent';
}

function verifyPart(bundle: BundleReader, part: FoundPart): VerifiedPart {
  const { name, bytes } = part;
  if (part.sha256 === undefined)
    return { name, bytes, state: 'unvouched', problem: 'nothing says what its bytes were' };
  try {
    const found = hashFile(bundle, name);
    if (found.bytes !== bytes)
      return {
        name,
        bytes,
        state: 'altered',
        problem: `it has ${found.bytes} bytes where ${bytes} were written`,
      };
    if (found.sha256 !== part.sha256)
      return { name, bytes, state: 'altered', problem: 'its SHA-256 is not that of the bytes written' };
    return { name, bytes, state: 'whole' };
  } catch (error) {
    const problem = error instanceof AgentdumpError ? error.message : `it cannot be read: ${String(error)}`;
    return { name, bytes, state: 'unreadable', problem };
  }
}

function hashFile(bundle: BundleReader, name: string): { bytes: number; sha256: string } {
  const file = bundle.source.open(name);
  try {
    const known = bundle.source.sha256?.(name);
    if (known !== undefined) return { bytes: file.bytes, sha256: known };
    const hash = createHash('sha256');
    let bytes = 0;
    for (const chunk of file.chunks()) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    file.close();
  }
}

function missingParts(bundle: BundleReader): VerifiedPart[] {
  const noted: Manifest['parts'] = bundle.manifest?.parts ?? [];
  return noted
    .filter((part) => !bundle.source.sizes.has(part.name))
    .map(({ name, bytes }) => ({
      name,
      bytes,
      ...(bundle.source.refused.has(name)
        ? { state: 'unreadable', problem: bundle.source.refused.get(name)! }
        : { state: 'missing', problem: 'the manifest names it, but it is not there' }),
    }));
}

/** It is there, but says nothing: otherwise the bundle would look like one whose writer was stopped. */
function brokenManifest({ manifest, source, gaps }: BundleReader): VerifiedPart[] {
  if (manifest) return [];
  const bytes = source.sizes.get(manifestName);
  const refused = source.refused.get(manifestName);
  if (bytes === undefined && refused === undefined) return [];
  const problem = refused ?? gaps.find(({ part }) => part === manifestName)?.reason ?? 'it cannot be read';
  return [{ name: manifestName, bytes: bytes ?? 0, state: 'unreadable', problem }];
}

/** By the manifest, so that it is listed as a part. */
const isNamed = ({ manifest }: BundleReader, name: string): boolean =>
  name === manifestName || (manifest?.parts.some((part) => part.name === name) ?? false);

function extraFiles(bundle: BundleReader): string[] {
  const named = new Set([manifestName, ...bundle.parts.map((part) => part.name)]);
  // If the writer died between writing the manifest and the last rename, this file remains.
  named.add(progressName);
  return [...bundle.source.sizes.keys()]
    .filter((name) => !named.has(name))
    .concat([...bundle.source.refused.keys()].filter((name) => !isNamed(bundle, name)));
}
