/**
 * Encrypts and decrypts bundles on disk: a folder or a packed bundle becomes one age file, and an age file becomes the
 * packed bundle in it. Both directions are streams. A dying process encrypts in its own way, in encrypted-sink.ts.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import { packedSuffix } from '../layout/bundle.ts';
import { isAgeFile, type Keys, openAgeWindow } from '../read/age.ts';
import { openBundle } from '../read/reader.ts';
import { chunksOf } from '../read/source.ts';
import { openFileWindow } from '../read/window.ts';
import { AgeStream } from '../write/age-encrypt.ts';
import type { Lock } from '../write/age-key.ts';
import { writeNewFile } from '../write/new-file.ts';
import { packedName, writeArchive } from './pack.ts';

export interface EncryptResult {
  path: string;
  bytes: number;
}

/**
 * Writes `….agentdump.zip.age` beside the bundle, or to `output`. The unencrypted bundle is kept; the caller removes it.
 * Throws what openBundle throws, `locked` if it is already encrypted, `unwritable`.
 */
export function encryptBundle(path: string, lock: Lock, options: { output?: string } = {}): EncryptResult {
  const bundle = openBundle(path);
  try {
    const name = bundle.packed ? basename(path) : packedName(path);
    const output = resolve(options.output ?? join(dirname(resolve(path)), `${name}.age`));
    const { bytes } = writeNewFile(output, (put) => {
      const stream = new AgeStream(put, lock);
      writeArchive(bundle, basename(name, '.zip'), (bytes) => stream.write(bytes));
      stream.end();
    });
    return { path: output, bytes };
  } finally {
    bundle.close();
  }
}

/**
 * Writes the packed bundle in an age file to the same path without `.age`, or to `output`. Throws `locked` if no key fits,
 * `malformed-input` for a damaged file (nothing is left behind), `usage` for a file that is no age file.
 */
export function decryptBundle(path: string, keys: Keys, options: { output?: string } = {}): EncryptResult {
  const window = openFileWindow(path);
  try {
    if (!isAgeFile(window)) throw new AgentdumpError('usage', `${path} is not encrypted`, { argument: path });
    const clear = openAgeWindow(window, keys, path);
    const output = resolve(options.output ?? clearPath(path));
    const { bytes } = writeNewFile(output, (put) => {
      for (const chunk of chunksOf((target, position) => clear.read(target, position))) put(chunk);
    });
    return { path: output, bytes };
  } finally {
    window.close();
  }
}

function clearPath(path: string): string {
  if (path.endsWith('.age')) return path.slice(0, -'.age'.length);
  return path + packedSuffix;
}
