/**
 * Writes a bundle, synchronously, in the process that is dying: each part whole or not named, hashes as it goes, and
 * every failure a gap in the manifest, never a throw after the start. Does not know what a part means, and trusts its
 * caller that the bytes are redacted. The order of writing, and what a reader finds at each instant, is in FORMAT.md.
 */
import { dirname } from 'node:path';
import {
  type Manifest,
  type ManifestGap,
  type ManifestHead,
  type ManifestPart,
  manifestName,
  type ProgressLine,
  progressName,
  unfinishedSuffix,
} from '../layout/bundle.ts';
import type { Lock } from './age-key.ts';
import { EncryptedSink } from './encrypted-sink.ts';
import { FolderSink } from './folder-sink.ts';
import { appendBundle, type LedgerHead } from './ledger.ts';
import { type HeadFields, manifestHead } from './manifest-head.ts';
import { unwritable } from './safe-folder.ts';
import type { Sink, SinkFile } from './sink.ts';
import { failureCode, isoTime, loadCrypto, nowMs } from './system.ts';

export interface StartOptions extends HeadFields {
  /** The dump folder; made where it is missing. */
  dir: string;
  /** With it, only an age file reaches the disk: `readLock` of age-key.ts makes one of what the user gave. */
  lock?: Lock;
  /** Whether the seal appends to the ledger beside the bundles; true by default. */
  ledger?: boolean;
  /** The folder that `beginBundle` has made for it, which becomes the bundle's. */
  begun?: string;
  /** Disk set aside so that a full disk can still be sealed. 32 KiB by default; 0 for none. */
  reserveBytes?: number;
}

export interface PartOptions {
  /** False for a part cut at a limit; say in a gap at which. True by default. */
  complete?: boolean;
}

export interface OpenPart {
  /** False once the part has failed: what follows is ignored, and the gap is there. */
  write(chunk: string | Uint8Array): boolean;
  /** Names the part. False where it failed. */
  close(options?: PartOptions): boolean;
  /** Takes the part back; `reason` becomes its gap. */
  abandon(reason: string): void;
}

const defaultReserve = 32 * 1024;
const mostGaps = 1000;
const longestReason = 1000;
const readBackLimit = 256 * 1024 * 1024;
/** No room for bytes or files. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT']);
const ownFiles = new Set([manifestName, progressName]);
const safeName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

/** Throws AgentdumpError `unwritable`, details {path, reason}; then nothing is left behind. */
export function startBundle(options: StartOptions): BundleWriter {
  const head = manifestHead(options);
  const fields = { ...head, atMs: Date.parse(head.createdAt) };
  const sink = options.lock
    ? new EncryptedSink(options.dir, fields, options.lock)
    : new FolderSink(options.dir, fields, {
        reserveBytes: options.reserveBytes ?? defaultReserve,
        ...(options.begun !== undefined && { begun: options.begun }),
      });
  try {
    return new BundleWriter(head, sink, options.ledger ?? true);
  } catch (error) {
    sink.discard();
    throw unwritable(sink.path, failureCode(error), error);
  }
}

export class BundleWriter {
  readonly #head: ManifestHead;
  readonly #sink: Sink;
  readonly #keepsLedger: boolean;
  #ledgerHead: LedgerHead | undefined;
  readonly #parts = new Map<string, ManifestPart>();
  readonly #gaps: ManifestGap[] = [];
  readonly #unwritten: { part: string; code: string }[] = [];
  readonly #redactions = new Map<string, Manifest['redactions'][number]>();

  /** Throws what the sink throws when it takes not even the first line. */
  constructor(head: ManifestHead, sink: Sink, keepsLedger: boolean) {
    this.#head = head;
    this.#sink = sink;
    this.#keepsLedger = keepsLedger;
    const line = asLine({ begin: head });
    try {
      sink.note(line);
    } catch (error) {
      if (!sink.release()) throw error;
      sink.note(line);
    }
  }

  get id(): string {
    return this.#head.id;
  }

  /** Where the bundle is now; it moves at its first part and at the seal. */
  get path(): string {
    return this.#sink.path;
  }

  /** Of the parts that are there. */
  get partNames(): string[] {
    return [...this.#parts.keys()];
  }

  /** After the seal: the ledger's head, an anchor for whoever notes it elsewhere. Undefined where it took no line. */
  get ledgerHead(): LedgerHead | undefined {
    return this.#ledgerHead;
  }

  /** Text becomes UTF-8. True when the part is there; else a gap says why not. Never throws. */
  writePart(name: string, content: string | Uint8Array, options: PartOptions = {}): boolean {
    const part = this.openPart(name);
    if (part.write(content) && part.close(options)) return true;
    // Without one part there is no bundle to seal: what was set aside for the seal is the first part's.
    if (this.#parts.size > 0 || !this.#sink.release()) return false;
    const again = this.openPart(name);
    if (!again.write(content) || !again.close(options)) return false;
    this.#gaps.splice(0, this.#gaps.length, ...this.#gaps.filter(({ part }) => part !== name));
    return true;
  }

  /** Parts that the system did not take (a full disk), with what it said. */
  get unwritten(): readonly { part: string; code: string }[] {
    return this.#unwritten.filter(({ part }) => !this.#parts.has(part));
  }

  /** A part in chunks. It takes the place of one of the same name when it is whole. Never throws, nor do the methods of what it returns. */
  openPart(name: string): OpenPart {
    try {
      requirePartName(name);
      return new StreamedPart(this.#sink, name, (part) => this.#accept(part), this.#refuse(name));
    } catch (error) {
      this.#refuse(name)(failureCode(error));
      return failedPart;
    }
  }

  /** The bytes of a part that was written, for a second look; undefined where there is none. Never throws. */
  readBack(name: string): Uint8Array | undefined {
    if (!this.#parts.has(name)) return undefined;
    try {
      return this.#sink.read(name, readBackLimit);
    } catch {
      return undefined;
    }
  }

  /** Takes a written part away again, and says why. Never throws. */
  dropPart(name: string, reason: string): void {
    try {
      if (this.#parts.has(name)) this.#remove(name);
      this.addGap({ part: name, reason });
    } catch (error) {
      this.addGap({ part: name, reason: `${reason}; it could not be removed: ${failureCode(error)}` });
    }
  }

  addGap(gap: ManifestGap): void {
    if (this.#gaps.length >= mostGaps) return;
    const kept = { ...gap, reason: gap.reason.slice(0, longestReason) };
    this.#gaps.push(kept);
    this.#note({ gap: kept });
  }

  /** Adds to the counts of withheld values: rule → number. */
  countRedactions(part: string, counts: ReadonlyMap<string, number>): void {
    const added: Manifest['redactions'] = [];
    for (const [rule, count] of counts) {
      if (count <= 0) continue;
      const key = `${rule}\n${part}`;
      const entry = this.#redactions.get(key) ?? { rule, part, count: 0 };
      entry.count += count;
      this.#redactions.set(key, entry);
      added.push({ rule, part, count });
    }
    if (added.length) this.#note({ redactions: added });
  }

  /** Before what may take long: what there is so far is on the disk. Never throws. */
  checkpoint(): void {
    try {
      this.#sink.checkpoint();
    } catch {
      // The seal says it, if it can't write either.
    }
  }

  /**
   * Writes the manifest and makes the bundle final. Returns its path. Where the disk has no room for the manifest, the last
   * parts make way, which are worth least. Throws `unwritable` where even that is not enough: the partial folder stays, and
   * is readable.
   */
  seal(): string {
    for (;;)
      try {
        return this.#sealOnce();
      } catch (error) {
        const code = failureCode(error);
        const last = this.partNames.at(-1);
        if (!fullCodes.has(code) || last === undefined || this.#parts.size === 1)
          throw unwritable(this.path, code, error);
        this.#unwritten.push({ part: last, code });
        this.dropPart(last, code);
        // It can't be taken away either.
        if (this.#parts.has(last)) throw unwritable(this.path, code, error);
      }
  }

  #sealOnce(): string {
    const sealedAt = nowMs();
    const manifest: Manifest = {
      ...this.#head,
      sealedAt: isoTime(sealedAt),
      parts: [...this.#parts.values()],
      gaps: this.#gaps,
      redactions: [...this.#redactions.values()],
      tookMs: sealedAt - Date.parse(this.#head.createdAt),
    };
    const bytes = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
    return this.#sink.seal(bytes, () => this.#enterLedger(bytes));
  }

  /** Leaves nothing of the bundle. Never throws. */
  discard(): void {
    this.#sink.discard();
  }

  /** A ledger that takes no line leaves a bundle that it does not know: `verify` says so. */
  #enterLedger(manifest: Uint8Array): void {
    if (!this.#keepsLedger) return;
    try {
      const hash = loadCrypto().createHash('sha256').update(manifest).digest('hex');
      this.#ledgerHead = appendBundle(dirname(this.path), { bundle: this.id, manifest: hash });
    } catch {
      this.#ledgerHead = undefined;
    }
  }

  #accept(part: ManifestPart): void {
    this.#parts.set(part.name, part);
    this.#note({ part });
  }

  #refuse(name: string): (reason: string) => void {
    const before = this.#parts.get(name);
    return (reason) => {
      if (before) this.#parts.set(name, before);
      else this.#parts.delete(name);
      if (/^E[A-Z0-9]+$/.test(reason)) this.#unwritten.push({ part: name, code: reason });
      this.addGap({ part: name, reason });
    };
  }

  #remove(name: string): void {
    this.#sink.remove(name);
    this.#parts.delete(name);
    this.#note({ dropped: name });
  }

  /** A progress file that can't grow costs the reader of a torn bundle some hashes, and nothing else. */
  #note(line: ProgressLine): void {
    try {
      this.#sink.note(asLine(line));
    } catch {
      // The part or the gap is still in the manifest to come.
    }
  }
}

function asLine(line: ProgressLine): string {
  return `${JSON.stringify(line)}\n`;
}

const failedPart: OpenPart = { write: () => false, close: () => false, abandon: () => {} };

function requirePartName(name: string): void {
  if (!safeName.test(name) || ownFiles.has(name) || name.endsWith(unfinishedSuffix))
    throw new Error('not a name that a part may have');
}

class StreamedPart implements OpenPart {
  readonly #sink: Sink;
  readonly #name: string;
  readonly #accept: (part: ManifestPart) => void;
  readonly #refuse: (reason: string) => void;
  readonly #hash = loadCrypto().createHash('sha256');
  readonly #file: SinkFile;
  #bytes = 0;
  #isOpen = true;

  /** Throws when the file can't be made. */
  constructor(
    sink: Sink,
    name: string,
    accept: (part: ManifestPart) => void,
    refuse: (reason: string) => void,
  ) {
    this.#sink = sink;
    this.#name = name;
    this.#accept = accept;
    this.#refuse = refuse;
    this.#file = this.#orAfterRelease(() => sink.create(name));
  }

  write(chunk: string | Uint8Array): boolean {
    if (!this.#isOpen) return false;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    try {
      this.#file.write(bytes);
    } catch (error) {
      this.abandon(failureCode(error));
      return false;
    }
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    return true;
  }

  close(options: PartOptions = {}): boolean {
    if (!this.#isOpen) return false;
    const part = {
      name: this.#name,
      bytes: this.#bytes,
      sha256: this.#hash.digest('hex'),
      complete: options.complete ?? true,
    };
    try {
      this.#file.close();
      this.#accept(part);
      this.#orAfterRelease(() => this.#file.name());
    } catch (error) {
      this.abandon(failureCode(error));
      return false;
    }
    this.#isOpen = false;
    return true;
  }

  abandon(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#file.cancel();
    this.#refuse(reason);
  }

  /** Making a file and renaming one cost little: the reserve is for them and for the manifest. */
  #orAfterRelease<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (!this.#sink.release()) throw error;
      return step();
    }
  }
}
