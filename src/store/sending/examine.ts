/**
 * Decides whether an untrusted bundle is whole, and what death it tells of. If it is torn, altered, too large or no bundle, it is
 * refused with a reason. Knows no store.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { verifyOpenBundle } from '../../bundle/finished/verify.ts';
import { partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import { isAgeFile, requireAgeForm } from '../../bundle/read/age.ts';
import type { BundleReader } from '../../bundle/read/reader.ts';
import { openFileWindow } from '../../bundle/read/window.ts';
import { AgentdumpError } from '../../errors.ts';
import type { BundleFacts } from '../grouping/death.ts';

export const mostBundleBytes = 2 * 1024 ** 3;

/** A reason in the bundle itself; never a problem of the store. It may name what the bundle names, so it has no control characters. */
export class Refusal extends Error {
  constructor(because: string) {
    super(because.replace(/[\0-\x1f\x7f-\x9f]/g, '\ufffd'));
  }
}

/** The machine has too few of something for now, which says nothing about the bundle. */
const shortages = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EDQUOT', 'EAGAIN']);

/** Calls code that reads the bundle: what it throws becomes a refusal, except `unwritable` and what the machine lacks. */
export async function judge<Result>(read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal || (error instanceof AgentdumpError && error.code === 'unwritable'))
      throw error;
    const shortage = shortageOf(error);
    if (shortage !== undefined)
      throw new AgentdumpError(
        'unwritable',
        `the machine lacks something: ${shortage}`,
        { reason: shortage },
        error,
      );
    throw new Refusal(
      error instanceof AgentdumpError ? error.message : `it cannot be read: ${String(error)}`,
    );
  }
}

function shortageOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code !== undefined && shortages.has(code)) return code;
  }
  return undefined;
}

/** Throws a refusal for one that no key could open. */
export function isEncrypted(path: string, limit: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new Refusal(`there is nothing at ${path}`);
  if (!stat.isFile()) return false;
  requireSize(stat.size, limit);
  const window = openFileWindow(path);
  try {
    if (!isAgeFile(window)) return false;
    requireAgeForm(window);
    return true;
  } catch (error) {
    throw error instanceof AgentdumpError ? new Refusal(error.message) : error;
  } finally {
    window.close();
  }
}

export function requireSize(bytes: number, limit: number): void {
  if (bytes > limit) throw new Refusal(`it has ${bytes} bytes, more than the ${limit} that a store takes`);
}

/** Returns the digest of its manifest. */
export function requireWhole(bundle: BundleReader, limit: number): string {
  let bytes = 0;
  for (const size of bundle.source.sizes.values()) bytes += size;
  requireSize(bytes, limit);
  if (!bundle.sealed) throw new Refusal('its writer did not come to the end: it has no seal');
  if (!/^[0-9a-f]{16}$/.test(bundle.id)) throw new Refusal('its id is none that agentdump gives');
  const { verdict, parts, extra, manifestSha256 } = verifyOpenBundle(bundle);
  if (verdict === 'whole' && parts.length === 0) throw new Refusal('it has no part that tells of a death');
  if (verdict === 'whole' && manifestSha256 !== undefined) return manifestSha256;
  const fault = parts.find(({ problem }) => problem !== undefined);
  throw new Refusal(
    fault
      ? `it is not as it was sealed: ${fault.name}: ${fault.problem}`
      : `it has files that no seal names: ${extra[0]}`,
  );
}

export function factsOf(bundle: BundleReader, startedAs: string | undefined): BundleFacts {
  const trigger = bundle.readJson<Record<keyof TriggerPart, unknown>>(partNames.trigger);
  return { program: bundle.head.program, repeats: trigger?.repeats, startedAs };
}

/** The session that a supervisor opened is also the id of a bundle that it wrote itself. */
export function sessionOf(bundle: BundleReader): string {
  const trigger = bundle.readJson<Record<keyof TriggerPart, unknown>>(partNames.trigger);
  return typeof trigger?.recorderId === 'string' ? trigger.recorderId : bundle.id;
}

export function hashOf(path: string): string {
  const window = openFileWindow(path);
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.alloc(1024 * 1024);
    for (let position = 0; position < window.size; ) {
      const count = window.read(chunk, position);
      if (count <= 0) break;
      hash.update(chunk.subarray(0, count));
      position += count;
    }
    return hash.digest('hex');
  } finally {
    window.close();
  }
}
