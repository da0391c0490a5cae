/**
 * A bundle as a folder: parts are written beside their place and renamed into it, the folder itself is renamed at its
 * first part and at the seal, so that whoever looks at any instant finds a bundle or nothing (FORMAT.md, "The order of
 * writing"). Holds at most three descriptors at once: the folder, the progress file, one part.
 */
import { join } from 'node:path';
import { type BundleNameFields, bundleStem } from './bundle-name.ts';
import {
  bundleSuffix,
  manifestName,
  partialSuffix,
  progressName,
  reserveName,
  startingSuffix,
  unfinishedSuffix,
} from './layout.ts';
import {
  createPrivateFile,
  ensureDumpFolder,
  makePrivateFolder,
  type OpenFolder,
  openRegularFile,
  unwritable,
} from './safe-folder.ts';
import type { Sink, SinkFile } from './sink.ts';
import {
  closeSync,
  failureCode,
  lstatSync,
  readdirSync,
  readWhole,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeAll,
} from './system.ts';

const mostAttempts = 100;

export class FolderSink implements Sink {
  readonly #parent: string;
  readonly #stem: string;
  readonly #folder: OpenFolder;
  readonly #progress: number;
  #suffix = startingSuffix;
  #hasReserve = false;
  #isLineTorn = false;
  #isOpen = true;

  /** Throws `unwritable`; then nothing is left behind. */
  constructor(dir: string, fields: BundleNameFields, reserveBytes: number) {
    this.#parent = ensureDumpFolder(dir);
    const made = makeUniqueFolder(this.#parent, fields);
    this.#stem = made.stem;
    this.#folder = made.folder;
    try {
      this.#progress = createPrivateFile(this.#below(progressName));
    } catch (error) {
      closeSync(made.folder.fd);
      rmdirSync(this.path);
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
    const unfinished = this.#below(name + unfinishedSuffix);
    const fd = createPrivateFile(unfinished);
    let isOpen = true;
    const close = () => {
      if (isOpen) closeSync(fd);
      isOpen = false;
    };
    return {
      write: (bytes) => writeAll(fd, bytes),
      close,
      name: () => {
        renameSync(unfinished, this.#below(name));
        if (this.#suffix === startingSuffix) this.#become(partialSuffix);
      },
      cancel: () => quietly(close, () => unlinkSync(unfinished)),
    };
  }

  note(line: string): void {
    // A line that a full disk has torn must not swallow the next.
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
    quietly(() => unlinkSync(this.#below(progressName)));
    this.#become(bundleSuffix);
    this.#close();
    return this.path;
  }

  discard(): void {
    this.#hasReserve = false;
    quietly(() => removeFlatTree(this.#folder.base));
    this.#close();
    quietly(() => rmdirSync(this.path));
  }

  /** A disk that has no room for the reserve may still have room for the first parts. */
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
      closeSync(makePrivateFolder(this.#below(name)).fd);
    } catch (error) {
      if (failureCode(error) !== 'EEXIST') throw error;
      if (!lstatSync(this.#below(name)).isDirectory()) throw error;
    }
  }

  /** An own folder whose new name is taken keeps the old one: its content tells readers the same. */
  #become(suffix: string): void {
    const target = this.#withSuffix(suffix);
    if (lstatSync(target, { throwIfNoEntry: false })) return;
    renameSync(this.path, target);
    this.#suffix = suffix;
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    quietly(
      () => closeSync(this.#progress),
      () => closeSync(this.#folder.fd),
    );
  }

  #below(name: string): string {
    return join(this.#folder.base, name);
  }

  #withSuffix(suffix: string): string {
    return join(this.#parent, this.#stem + suffix);
  }
}

function makeUniqueFolder(parent: string, fields: BundleNameFields): { stem: string; folder: OpenFolder } {
  for (let attempt = 1; ; attempt++) {
    const stem = bundleStem(fields, attempt);
    const path = join(parent, stem + startingSuffix);
    try {
      if (!isTaken(parent, stem)) return { stem, folder: makePrivateFolder(path) };
    } catch (error) {
      if (failureCode(error) !== 'EEXIST') throw unwritable(path, failureCode(error), error);
    }
    if (attempt === mostAttempts) throw unwritable(path, 'EEXIST');
  }
}

function isTaken(parent: string, stem: string): boolean {
  return [bundleSuffix, partialSuffix].some((suffix) =>
    lstatSync(join(parent, stem + suffix), { throwIfNoEntry: false }),
  );
}

/** Removes all that a bundle's folder can hold: files, and folders of files. Links are removed, never followed. */
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
      // Nothing that could be done about it would help a process that is dying.
    }
}
