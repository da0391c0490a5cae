/**
 * Unpacks a packed bundle into a folder: only parts and the bundle's own files, under checked names, into a new private
 * folder that gets the bundle's name once it is complete.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { platform } from '../../platform/index.ts';
import {
  bundleSuffix,
  encryptedSuffix,
  manifestName,
  packedSuffix,
  partialSuffix,
  progressName,
  unfinishedSuffix,
} from '../layout/bundle.ts';
import type { Keys } from '../read/age.ts';
import { type BundleReader, openBundle } from '../read/reader.ts';
import { isPartName } from '../read/source.ts';
import { outsideFolder } from '../read/zip-source.ts';
import { removeFlatTree } from '../write/folder-sink.ts';
import { createPrivateFile, ensureDumpFolder, makeClosedFolder, unwritable } from '../write/safe-folder.ts';
import {
  closeSync,
  existsSync,
  failureCode,
  lstatSync,
  rmdirSync,
  statSync,
  writeAll,
} from '../write/system.ts';

export interface UnpackResult {
  path: string;
  /** Files in the zip that are no parts, and were left out. */
  leftOut: string[];
}

/**
 * Writes the folder below `output`, by default beside the file. Throws what openBundle throws, `usage` if the bundle is
 * already a folder, `unwritable` if the folder exists or can't be written, and `malformed-input` or `over-limit` for what
 * can't be unpacked, such as a decompression bomb: then nothing is left behind.
 */
export function unpackBundle(path: string, options: { output?: string; keys?: Keys } = {}): UnpackResult {
  const bundle = openBundle(path, options.keys);
  try {
    if (!bundle.packed) throw new AgentdumpError('usage', `${path} is not packed`, { argument: path });
    requireHarmless(bundle, statSync(path).size);
    const output = options.output ?? dirname(resolve(path));
    const isNew = !existsSync(output);
    try {
      return unpackInto(ensureDumpFolder(output), bundle);
    } catch (error) {
      if (isNew) removeEmpty(output);
      throw error;
    }
  } finally {
    bundle.close();
  }
}

function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It was never made, or something else is in it.
  }
}

/** The largest ratio of unpacked to packed size. Text compresses 3 to 30 times, and large parts are stored. */
const mostGrowth = 100;
const smallBytes = 64 * 1024 * 1024;

/** Checked before anything is written: one entry with false sizes makes the whole file unacceptable. */
function requireHarmless({ source, parts, path }: BundleReader, packedBytes: number): void {
  for (const [name, reason] of source.refused)
    if (isPartName(name) && reason !== outsideFolder)
      throw new MalformedInput(`nothing was unpacked: ${name} was refused, ${reason}`, {
        format: 'zip',
        field: name,
        offset: 0,
      });
  const wanted = parts.reduce((sum, part) => sum + (source.sizes.get(part.name) ?? 0), 0);
  const allowed = Math.max(smallBytes, packedBytes * mostGrowth);
  if (wanted > allowed)
    throw new AgentdumpError(
      'over-limit',
      `nothing was unpacked: ${path} has ${packedBytes} bytes and claims to hold ${wanted}`,
      { limit: 'unpacked bytes', wanted, allowed },
    );
}

/** The same for a bundle that is open, whatever it was read from. `dir` must exist. */
function unpackInto(dir: string, bundle: BundleReader): UnpackResult {
  const final = join(dir, unpackedName(bundle));
  const unfinished = final + unfinishedSuffix;
  if (lstatSync(final, { throwIfNoEntry: false })) throw unwritable(final, 'EEXIST');
  let leftOut: string[];
  try {
    makeClosedFolder(unfinished);
    try {
      leftOut = copyFiles(bundle, unfinished);
      platform.files.rename(unfinished, final);
    } catch (error) {
      removeFlatTree(unfinished);
      rmdirSync(unfinished);
      throw error;
    }
  } catch (error) {
    if (error instanceof AgentdumpError) throw error;
    throw unwritable(final, failureCode(error), error);
  }
  return { path: final, leftOut };
}

function unpackedName(bundle: BundleReader): string {
  const suffix = bundle.sealed ? bundleSuffix : partialSuffix;
  const name = basename(bundle.path);
  for (const packed of [encryptedSuffix, packedSuffix])
    if (name.endsWith(packed)) return name.slice(0, -packed.length) + suffix;
  return name.replace(/(\.zip)?(\.age)?$/, '') + suffix;
}

function copyFiles(bundle: BundleReader, target: string): string[] {
  const wanted = new Set([manifestName, progressName, ...bundle.parts.map((part) => part.name)]);
  const leftOut = [...bundle.source.refused.keys()];
  const folders = new Set<string>();
  for (const name of bundle.source.sizes.keys()) {
    if (!wanted.has(name)) {
      leftOut.push(name);
      continue;
    }
    const folder = name.includes('/') ? name.slice(0, name.indexOf('/')) : '';
    if (folder && !folders.has(folder)) makeClosedFolder(join(target, folder));
    folders.add(folder);
    copyFile(bundle, name, join(target, name));
  }
  return leftOut;
}

function openPart(bundle: BundleReader, name: string) {
  try {
    return bundle.source.open(name);
  } catch (error) {
    if (!(error instanceof MalformedInput)) throw error;
    throw new MalformedInput(
      `nothing was unpacked: ${name} of ${bundle.path} can't be read: ${error.message}`,
      { format: 'zip', field: name, offset: 0 },
      error,
    );
  }
}

function copyFile(bundle: BundleReader, name: string, path: string): void {
  const file = openPart(bundle, name);
  const fd = createPrivateFile(path);
  try {
    for (const chunk of file.chunks()) writeAll(fd, chunk);
  } finally {
    closeSync(fd);
    file.close();
  }
}
