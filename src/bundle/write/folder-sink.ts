/**
 * A bundle as a folder: parts are written under a temporary name and renamed when complete, and the folder itself is renamed
 * at its first part and at the seal, so that at any instant there is either a readable bundle or none (FORMAT.md, "The order
 * of writing"). Uses at most three descriptors at once: the folder, the progress file, one part.
 */
import { join } from 'node:path';
import { platform } from '../../platform/index.ts';
import {
  bundleSuffix,
  manifestName,
  partialSuffix,
  progressName,
  reserveName,
  startingSuffix,
  unfinishedSuffix,
} from '../layout/bundle.ts';
import { withdrawBegun } from './begin-early.ts';
import { type BundleNameFields, bundleStem } from './bundle-name.ts';
import { openRegularFile } from './open-regular-file.ts';
import {
  closeFolder,
  createPrivateFile,
  ensureDumpFolder,
  makeClosedFolder,
  makePrivateFolder,
  type OpenFolder,
  openPrivateFolder,
  openStateFile,
  unwritable,
} from './safe-folder.ts';
import type { Sink, SinkFile } from './sink.ts';
import {
  closeSync,
  constants,
  failureCode,
  lstatSync,
  openSync,
  readdirSync,
  readWhole,
  rmdirSync,
  unlinkSync,
  writeAll,
} from './system.ts';

const { files } = platform;
const mostAttempts = 100;
/** Marks a descriptor as closed. */
const closed = -1;

export class FolderSink implements Sink {
  readonly #parent: string;
  readonly #stem: string;
  readonly #folder: OpenFolder;
  #progress: number;
  #suffix = startingSuffix;
  #hasReserve = false;
  #isLineTorn = false;
  #isOpen = true;

  /** `begun`: a folder of ours to take over (begin-early.ts). Throws `unwritable`; then nothing is left behind. */
  constructor(
    dir: string,
    fields: BundleNameFields,
    { reserveBytes, begun }: { reserveBytes: number; begun?: string },
  ) {
    this.#parent = ensureDumpFolder(dir);
    const made = makeUniqueFolder(this.#parent, fields, begun);
    this.#stem = made.stem;
    this.#folder = made.folder;
    try {
      // In a folder that was begun it may exist already, and end in the middle of a line.
      this.#progress = openStateFile(this.#below(progressName));
      this.#isLineTorn = begun !== undefined;
    } catch (error) {
      closeFolder(made.folder);
      withdrawBegun(this.path);
      throw unwritable(this.path, failureCode(error), error);
    }
    quietly(() => this.#reserve(reserveBytes));
  }

  get path(): string {
    return this.#withSuffix(this.#suffix);
  }

  create(name: string): SinkFile {
    const slash = name.indexOf('/');
    if (slash > 0) this.#ensureSubfolder(name.slice(0, slash));
    // Evaluated each time, because the folder may be renamed in between.
    const unfinished = (): string => this.#below(name + unfinishedSuffix);
    const fd = createPrivateFile(unfinished());
    let isOpen = true;
    const close = () => {
      if (isOpen) closeSync(fd);
      isOpen = false;
    };
    return {
      write: (bytes) => writeAll(fd, bytes),
      close,
      name: () => {
        files.rename(unfinished(), this.#below(name));
        if (this.#suffix === startingSuffix) this.#become(partialSuffix);
      },
      cancel: () => quietly(close, () => unlinkSync(unfinished())),
    };
  }

  note(line: string): void {
    if (this.#progress === closed) return;
    // A line torn by a full disk must not swallow the next one.
    const start = this.#isLineTorn ? '\n' : '';
    this.#isLineTorn = true;
    writeAll(this.#progress, Buffer.from(start + line));
    this.#isLineTorn = false;
  }

  read(name: string, limit: number): Uint8Array | undefined {
    const fd = openRegularFile(this.#below(name));
    try {
      return readWhole(fd, limit);
    } finally {
      closeSync(fd);
    }
  }

  remove(name: string): void {
    unlinkSync(this.#below(name));
  }

  release(): boolean {
    if (!this.#hasReserve) return false;
    this.#hasReserve = false;
    quietly(() => unlinkSync(this.#below(reserveName)));
    return true;
  }

  /** Nothing to do: a part is on disk as soon as it has its name. */
  checkpoint(): void {}

  seal(manifest: Uint8Array, placed: () => void): string {
    this.release();
    const file = this.create(manifestName);
    try {
      file.write(manifest);
      file.close();
      file.name();
    } catch (error) {
      file.cancel();
      throw error;
    }
    placed();
    this.#closeProgress();
    quietly(() => unlinkSync(this.#below(progressName)));
    this.#become(bundleSuffix);
    this.#close();
    return this.path;
  }

  discard(): void {
    this.#hasReserve = false;
    this.#closeProgress();
    quietly(() => removeFlatTree(this.#folder.base ?? this.path));
    this.#close();
    quietly(() => rmdirSync(this.path));
  }

  /** A disk without room for the reserve may still have room for the first parts. */
  #reserve(bytes: number): void {
    if (bytes <= 0) return;
    const fd = createPrivateFile(this.#below(reserveName));
    this.#hasReserve = true;
    try {
      writeAll(fd, Buffer.alloc(bytes));
    } catch {
      this.release();
    } finally {
      closeSync(fd);
    }
  }

  #ensureSubfolder(name: string): void {
    try {
      makeClosedFolder(this.#below(name));
    } catch (error) {
      if (failureCode(error) !== 'EEXIST') throw error;
      if (!lstatSync(this.#below(name)).isDirectory()) throw error;
    }
  }

  /** If the new name is taken, our folder keeps the old one; readers go by its contents. */
  #become(suffix: string): void {
    const target = this.#withSuffix(suffix);
    if (lstatSync(target, { throwIfNoEntry: false })) return;
    const isNoted = this.#progress !== closed && !files.canRenameAroundOpenFiles;
    if (isNoted) this.#closeProgress();
    try {
      files.rename(this.path, target);
      this.#suffix = suffix;
    } finally {
      if (isNoted) this.#progress = reopenForAppending(this.#below(progressName));
    }
  }

  #closeProgress(): void {
    const fd = this.#progress;
    this.#progress = closed;
    if (fd !== closed) quietly(() => closeSync(fd));
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#closeProgress();
    quietly(() => closeFolder(this.#folder));
  }

  #below(name: string): string {
    return join(this.#folder.base ?? this.path, name);
  }

  #withSuffix(suffix: string): string {
    return join(this.#parent, this.#stem + suffix);
  }
}

function makeUniqueFolder(
  parent: string,
  fields: BundleNameFields,
  begun: string | undefined,
): { stem: string; folder: OpenFolder } {
  for (let attempt = 1; ; attempt++) {
    const stem = bundleStem(fields, attempt);
    const path = join(parent, stem + startingSuffix);
    try {
      if (!isTaken(parent, stem))
        return { stem, folder: (begun && takeOver(begun, path)) || makePrivateFolder(path) };
    } catch (error) {
      if (failureCode(error) !== 'EEXIST') throw unwritable(path, failureCode(error), error);
    }
    if (attempt === mostAttempts) throw unwritable(path, 'EEXIST');
  }
}

/** Undefined if that is not possible: the bundle then gets a new folder. Throws EEXIST if the name is taken. */
function takeOver(begun: string, path: string): OpenFolder | undefined {
  // A rename would replace an empty folder.
  if (path !== begun && lstatSync(path, { throwIfNoEntry: false })) throw taken();
  try {
    if (path !== begun) files.rename(begun, path);
    return openPrivateFolder(path);
  } catch {
    return undefined;
  }
}

const taken = (): Error => Object.assign(new Error('EEXIST'), { code: 'EEXIST' });

/** If that fails, no more progress is recorded; the manifest will contain it. */
function reopenForAppending(path: string): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_APPEND);
  } catch {
    return closed;
  }
}

function isTaken(parent: string, stem: string): boolean {
  return [bundleSuffix, partialSuffix].some((suffix) =>
    lstatSync(join(parent, stem + suffix), { throwIfNoEntry: false }),
  );
}

/** Removes everything that a bundle's folder can contain: files, and folders of files. Links are removed, never followed. */
export function removeFlatTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (!entry.isDirectory()) {
      unlinkSync(child);
      continue;
    }
    for (const name of readdirSync(child)) unlinkSync(join(child, name));
    rmdirSync(child);
  }
}

function quietly(...steps: (() => void)[]): void {
  for (const step of steps)
    try {
      step();
    } catch {
      // A dying process can't do anything about it.
    }
}
