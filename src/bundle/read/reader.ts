/**
 * Opens a finished or torn bundle and provides its parts. Whatever is missing, altered, torn or over a limit becomes a gap in
 * `gaps`, and the rest is still read. Only three things are fatal: it is no bundle, it has a newer major version, or neither
 * manifest nor trigger can be read. Does not know what a part means.
 */
import { createHash } from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';
import {
  type Manifest,
  type ManifestGap,
  type ManifestHead,
  type ManifestPart,
  manifestName,
  partNames,
  progressName,
  unfinishedSuffix,
} from '../layout/bundle.ts';
import { statSync } from '../write/system.ts';
import { isAgeFile, type Keys, openAgeWindow, readSmallAgeFile } from './age.ts';
import { HeldSource } from './held-source.ts';
import { parseUntrustedJson } from './json.ts';
import { isRecord, type Progress, readManifest, readProgress } from './manifest.ts';
import { type BundleSource, FolderSource, type PartFile } from './source.ts';
import { type ByteWindow, openFileWindow } from './window.ts';
import { ZipSource } from './zip-source.ts';

export interface FoundPart {
  name: string;
  bytes: number;
  /** As recorded by the writer; absent for a part without a recorded hash. */
  sha256?: string;
  complete: boolean;
}

/** The writer stops at a thousand. */
const mostGaps = 1010;
const manifestLimit = 8 * 1024 * 1024;
/** The limit for a part that is read into memory; larger ones are read with openPartFile. */
const partLimit = 128 * 1024 * 1024;
/** Each may take a second, because an untrusted file chooses its work factor. */
const mostUnsealed = 8;
const ownFiles = new Set([manifestName, progressName]);

/**
 * Opens a folder, a packed bundle, or with `keys` an encrypted one. Throws AgentdumpError: `not-found`, `not-a-bundle`,
 * `unsupported-version`, and `locked` for an encrypted bundle that no key opens.
 */
export function openBundle(path: string, keys?: Keys): BundleReader {
  return open(path, (source) => source, keys);
}

/** The same for a small bundle that is not encrypted and read several times: it is held in memory. */
export function openSmallBundle(path: string): BundleReader {
  return open(path, (source) => new HeldSource(source));
}

type Wrap = (source: BundleSource) => BundleSource;

function open(path: string, wrap: Wrap, keys?: Keys): BundleReader {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new AgentdumpError('not-found', `there is nothing at ${path}`, { path });
  if (stat.isDirectory()) return new BundleReader(path, wrap(new FolderSource(path)), false, keys);
  if (!stat.isFile()) throw notABundle(path, 'a folder or a regular file');
  return openWindow(path, openFileWindow(path), wrap, keys);
}

/** Opens a packed bundle in memory or in a file; messages call it `path`. Throws like openBundle. */
export function openPackedBundle(path: string, window: ByteWindow, keys?: Keys): BundleReader {
  return openWindow(path, window, (source) => source, keys);
}

function openWindow(path: string, window: ByteWindow, wrap: Wrap, keys?: Keys): BundleReader {
  try {
    if (!isAgeFile(window)) return new BundleReader(path, wrap(new ZipSource(window)), true, keys);
    if (!keys) throw new AgentdumpError('locked', `${path} is encrypted`, { path });
    return new BundleReader(path, new ZipSource(openAgeWindow(window, keys, path)), true, keys);
  } catch (error) {
    window.close();
    if (!(error instanceof AgentdumpError) || !zipFaults.has(error.code)) throw error;
    const why = `${path} is no bundle: ${error.message}`;
    throw new AgentdumpError('not-a-bundle', why, { path, lookedFor: 'a zip file', ...error.details }, error);
  }
}

const zipFaults = new Set(['malformed-input', 'over-limit']);

export class BundleReader {
  readonly path: string;
  readonly packed: boolean;
  /** It has a manifest: the writer finished. */
  readonly sealed: boolean;
  readonly id: string;
  readonly head: Partial<ManifestHead>;
  readonly manifest?: Manifest;
  readonly parts: FoundPart[];
  /** Grows while parts are read. */
  readonly gaps: ManifestGap[] = [];
  readonly redactions: Manifest['redactions'];
  /** All files, parts or not, for callers that copy or verify the whole bundle. */
  readonly source: BundleSource;
  readonly #saidGaps = new Set<string>();
  readonly #keys: Keys | undefined;
  /** Age files inside of parts that were opened, by their bytes. */
  readonly #unsealed = new Map<string, Uint8Array | undefined>();

  /** Takes ownership of the source: `close` closes it. Throws like openBundle. */
  constructor(path: string, source: BundleSource, packed: boolean, keys?: Keys) {
    this.path = path;
    this.#keys = keys;
    this.packed = packed;
    this.source = source;
    const manifest = this.#findManifest();
    const progress = manifest ? undefined : this.#findProgress();
    const triggerId = manifest || progress?.head ? undefined : this.#findTriggerId();
    if (manifest) this.manifest = manifest;
    this.sealed = manifest !== undefined;
    this.head = manifest ?? progress?.head ?? {};
    this.id = manifest?.id ?? progress?.head?.id ?? triggerId ?? this.#giveUp();
    this.redactions = manifest?.redactions ?? progress?.redactions ?? [];
    this.parts = manifest ? this.#sealedParts(manifest) : this.#tornParts(progress);
    for (const [name, reason] of source.refused) this.#gap(name, `it was left alone: ${reason}`);
  }

  /** The bytes of a part of at most `limit` bytes; undefined, and a gap, if they can't be read. Never throws. */
  readPart(name: string, limit: number = partLimit): Buffer | undefined {
    const part = this.parts.find((candidate) => candidate.name === name);
    if (!part) return undefined;
    try {
      const bytes = this.source.read(name, limit);
      if (part.sha256 !== undefined && (this.source.sha256?.(name) ?? sha256(bytes)) !== part.sha256)
        this.#gap(name, 'its bytes are not those that were written (SHA-256 differs); read with care');
      return bytes;
    } catch (error) {
      this.#gap(name, reasonOf(error));
      return undefined;
    }
  }

  /** The JSON of a part; undefined, and a gap, if it is torn, too deep or no object. Never throws. */
  readJson<T>(name: string): T | undefined {
    const bytes = this.readPart(name);
    if (!bytes) return undefined;
    try {
      const { value, removedKeys } = parseUntrustedJson(bytes, name);
      if (removedKeys) this.#gap(name, `${removedKeys} keys named __proto__ were left out`);
      if (isRecord(value)) return value as T;
      this.#gap(name, 'its JSON is not an object');
    } catch (error) {
      this.#gap(name, reasonOf(error));
    }
    return undefined;
  }

  /** For parts that are too large for memory. The hash is not checked. The caller closes the file. Never throws. */
  openPartFile(name: string): PartFile | undefined {
    if (!this.parts.some((part) => part.name === name)) return undefined;
    try {
      return this.source.open(name);
    } catch (error) {
      this.#gap(name, reasonOf(error));
      return undefined;
    }
  }

  /** The contents of a small age file inside of a part; undefined if the available keys don't open it. Never throws. */
  readonly unseal = (ageFile: Uint8Array): Uint8Array | undefined => {
    const name = sha256(ageFile);
    if (!this.#unsealed.has(name) && this.#unsealed.size < mostUnsealed)
      this.#unsealed.set(name, this.#keys && readSmallAgeFile(ageFile, this.#keys));
    return this.#unsealed.get(name);
  };

  /**
   * What was written of a part before its writer died. It has no recorded hash, and is only usable for formats that can be
   * read up to any byte, like a heap snapshot. The caller closes the file. Never throws.
   */
  openBegunPart(name: string): PartFile | undefined {
    if (!this.source.unfinished.includes(name)) return undefined;
    try {
      return this.source.open(`${name}${unfinishedSuffix}`);
    } catch (error) {
      this.#gap(name, reasonOf(error));
      return undefined;
    }
  }

  close(): void {
    this.source.close();
  }

  #findManifest(): Manifest | undefined {
    if (!this.source.sizes.has(manifestName)) return undefined;
    try {
      const { manifest, gaps } = readManifest(this.source.read(manifestName, manifestLimit));
      this.#addGaps([...gaps, ...manifest.gaps]);
      return manifest;
    } catch (error) {
      if (isNewer(error)) throw error;
      this.#gap(manifestName, reasonOf(error));
      return undefined;
    }
  }

  #findProgress(): Progress | undefined {
    if (!this.source.sizes.has(progressName)) return undefined;
    try {
      const progress = readProgress(this.source.read(progressName, manifestLimit));
      this.#addGaps(progress.gaps);
      return progress;
    } catch (error) {
      if (isNewer(error)) throw error;
      this.#gap(progressName, reasonOf(error));
      return undefined;
    }
  }

  #findTriggerId(): string | undefined {
    if (!this.source.sizes.has(partNames.trigger)) return undefined;
    try {
      const { value } = parseUntrustedJson(this.source.read(partNames.trigger, manifestLimit), 'trigger');
      const id = isRecord(value) ? value['id'] : undefined;
      return isRecord(value) ? (typeof id === 'string' ? id.slice(0, 16) : '') : undefined;
    } catch {
      return undefined;
    }
  }

  #giveUp(): never {
    const why = this.gaps[0] ? ` (${this.gaps[0].part}: ${this.gaps[0].reason})` : '';
    throw notABundle(this.path, `a readable ${manifestName} or ${partNames.trigger}${why}`);
  }

  #sealedParts(manifest: Manifest): FoundPart[] {
    return manifest.parts.filter((part) => {
      const bytes = this.source.sizes.get(part.name);
      if (bytes === undefined) this.#gap(part.name, 'the manifest names it, but it is not there');
      else if (bytes !== part.bytes)
        this.#gap(part.name, `it has ${bytes} bytes where ${part.bytes} were sealed`);
      return bytes !== undefined;
    });
  }

  #tornParts(progress: Progress | undefined): FoundPart[] {
    this.#gap(
      manifestName,
      'the bundle was never sealed: its writer died first',
      'every part after the last',
    );
    for (const name of this.source.unfinished)
      if (name !== 'reserve') this.#gap(name, 'its writing had begun when the writer died');
    for (const name of progress?.parts.keys() ?? [])
      if (!this.source.sizes.has(name)) this.#gap(name, 'it was written, but is not there');
    return [...this.source.sizes]
      .filter(([name]) => !ownFiles.has(name))
      .map(([name, bytes]) => this.#tornPart(name, bytes, progress?.parts.get(name)));
  }

  #tornPart(name: string, bytes: number, noted: ManifestPart | undefined): FoundPart {
    if (!noted) {
      this.#gap(name, 'nothing vouches for it: the progress file does not name it');
      return { name, bytes, complete: false };
    }
    if (noted.bytes !== bytes) this.#gap(name, `it has ${bytes} bytes where ${noted.bytes} were written`);
    return { name, bytes, sha256: noted.sha256, complete: noted.complete };
  }

  #gap(part: string, reason: string, lookedFor?: string): void {
    this.#addGaps([{ part, reason, ...(lookedFor !== undefined && { lookedFor }) }]);
  }

  /** Each gap once, and only as many as are useful: an untrusted bundle may have ten thousand. */
  #addGaps(found: readonly ManifestGap[]): void {
    for (const gap of found) {
      const key = `${gap.part}\n${gap.reason}`;
      if (this.#saidGaps.has(key) || this.gaps.length > mostGaps) continue;
      this.#saidGaps.add(key);
      this.gaps.push(
        this.gaps.length < mostGaps ? gap : { part: manifestName, reason: 'further gaps are not listed' },
      );
    }
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isNewer(error: unknown): boolean {
  return error instanceof AgentdumpError && error.code === 'unsupported-version';
}

function notABundle(path: string, lookedFor: string): AgentdumpError {
  return new AgentdumpError('not-a-bundle', `${path} is no bundle: ${lookedFor} was looked for`, {
    path,
    lookedFor,
  });
}

function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  if (error instanceof AgentdumpError) return error.message;
  return `it cannot be read: ${typeof code === 'string' ? code : String(error)}`;
}
