/** References to large files (weights, documents): a checkpoint contains only their path, size and hash. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { AgentdumpError, MalformedInput } from '../../errors.ts';

export interface FileReference {
  /** Absolute. */
  path: string;
  bytes: number;
  /** SHA-256, hexadecimal. */
  sha256: string;
}

/** Reads the file once, in chunks. Throws `not-found`. */
export async function referenceFile(path: string): Promise<FileReference> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  } catch (cause) {
    throw new AgentdumpError('not-found', `${path} can't be read`, { path }, cause);
  }
  return { path: resolve(path), bytes, sha256: hash.digest('hex') };
}

/** Throws MalformedInput if the file has changed, `not-found` if it does not exist. */
export async function verifyReference(reference: FileReference): Promise<void> {
  const now = await referenceFile(reference.path);
  if (now.sha256 === reference.sha256) return;
  throw new MalformedInput(`${reference.path} is not the file that the checkpoint means`, {
    format: 'file reference',
    field: 'sha256',
    wanted: reference.sha256,
    available: now.sha256,
  });
}
