/** Opens a core in any form: a file, a compressed file, an apport report, a pipe, or `-` for stdin. */
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { type ByteSource, FileSource } from '../../../bytes/byte-source.ts';
import { AgentdumpError } from '../../../errors.ts';
import { type Collected, collectedByApport, collectedBySystemd } from './collected.ts';
import { headBytes, isPacked } from './packing.ts';
import { Spool } from './spool.ts';
import { type Unpacking, unpack } from './unpack.ts';

export interface CoreInput {
  source: ByteSource;
  /** What the collector recorded beside the core. */
  collected?: Collected;
  /** Sentences that describe what is missing. */
  problems: string[];
  close(): void;
}

const pieceBytes = 1 << 18;

/**
 * Throws `not-found` if the path doesn't exist, `malformed-input`, `unsupported-version` for a compression that can't be read
 * here, and `unwritable` if the folder for temporary files is too small.
 */
export async function openCoreInput(path: string): Promise<CoreInput> {
  const isFile = path !== '-' && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? true);
  if (isFile) {
    const file = new FileSource(path);
    const head = new Uint8Array(headBytes);
    file.readInto(head, 0);
    const close = () => file.close();
    if (!isPacked(head)) return { source: file, problems: [], ...collectedAs(path), close };
    close();
  }
  return spool(path === '-' ? process.stdin : openStream(path), path);
}

/** The same for a core in memory, a part of a bundle. */
export async function openCoreBytes(bytes: Uint8Array): Promise<CoreInput> {
  return spool(Readable.from([bytes], { objectMode: false }), '');
}

function openStream(path: string): Readable {
  if (statSync(path).isDirectory()) throw new AgentdumpError('not-found', `${path} is a folder`, { path });
  return createReadStream(path, { highWaterMark: pieceBytes });
}

async function spool(chunks: AsyncIterable<Uint8Array>, path: string): Promise<CoreInput> {
  const found: Unpacking = { problems: [] };
  const kept = new Spool();
  try {
    for await (const piece of unpack(chunks, found)) kept.write(piece);
    const { source, close } = kept.end();
    const collected = found.report ? { collected: collectedByApport(found.report) } : collectedAs(path);
    return { source, problems: found.problems, ...collected, close };
  } catch (error) {
    kept.drop();
    throw error;
  }
}

function collectedAs(path: string): Pick<CoreInput, 'collected'> {
  const collected = collectedBySystemd(basename(path));
  return collected ? { collected } : {};
}
