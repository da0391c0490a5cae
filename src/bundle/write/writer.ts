/**
 * Writes a bundle, synchronously, in the dying process. A part either is complete or does not get its name; parts are hashed
 * while they are written; after the start, a failure becomes a gap in the manifest and is never thrown. Does not know what a
 * part means, and relies on its caller to redact. The order of writing, and what a reader finds at each instant, is in
 * FORMAT.md.
 */

import { dirname } from 'node:path';
import { startSha256 } from '../../platform/sha256.ts';
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
import { failureCode, isoTime, nowMs } from './system.ts';

export interface StartOptions extends HeadFields {
  /** The dump folder; created if necessary. */
  dir: string;
  /** If given, only an age file is written to disk. `readLock` of age-key.ts creates it from the user's setting. */
  lock?: Lock;
  /** Whether the seal is recorded in the ledger beside the bundles; true by default. */
  ledger?: boolean;
  /** The folder that `beginBundle` created for it, which becomes the bundle's, or makes way for its file. */
  begun?: string;
  /** Disk space reserved for sealing on a full disk. 32 KiB by default; 0 for none. */
  reserveBytes?: number;
}

export interface PartOptions {
  /** False for a part that was cut at a limit; a gap should say at which. True by default. */
  complete?: boolean;
}

export interface OpenPart {
  /** False once the part has failed: further chunks are ignored, and there is a gap. */
  write(chunk: string | Uint8Array): boolean;
  /** Gives the part its name. False if it failed. */
  close(options?: PartOptions): boolean;
  /** Discards the part; `reason` becomes its gap. */
  abandon(reason: string): void;
}

const defaultReserve = 32 * 1024;
const mostGaps = 1000;
const longestReason = 1000;
const readBackLimit = 256 * 1024 * 1024;
/** No space for bytes or inodes. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT']);
const ownFiles = new Set([manifestName, progressName]);
const safeName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

/** Throws AgentdumpError `unwritable`, details {path, reason}; then nothing is left behind. */
export function startBundle(options: StartOptions): BundleWriter {
  const head = manifestHead(options);
  const fields = { ...head, atMs: Date.parse(head.createdAt) };
  const sink = options.lock
    ? new EncryptedSink(options.dir, fields, options.lock, options.begun)
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

  /** Throws what the sink throws if it can't write even the first line. */
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

  /** The current path of the bundle; it changes at its first part and at the seal. */
  get path(): string {
    return this.#sink.path;
  }

  /** Names of the parts written so far. */
  get partNames(): string[] {
    return [...this.#parts.keys()];
  }

  /** After the seal: the ledger's head, to be stored elsewhere as an anchor. Undefined if no line could be appended. */
  get ledgerHead(): LedgerHead | undefined {
    return this.#ledgerHead;
  }

  /** Writes a part again, which stays as complete as it was. False, with the part dropped, if that was not possible. */
  replacePart(name: string, content: string): boolean {
    const complete = this.#parts.get(name)?.complete ?? true;
    if (this.writePart(name, content, { complete })) return true;
    this.dropPart(name, 'it had to be redacted once more, and could not be written');
    return false;
  }

  /** Text is written as UTF-8. True if the part was written; otherwise a gap says why not. Never throws. */
  writePart(name: string, content: string | Uint8Array, options: PartOptions = {}): boolean {
    const part = this.openPart(name);
    if (part.write(content) && part.close(options)) return true;
    // Without any part there is no bundle to seal, so the first part may use the reserve.
    if (this.#parts.size > 0 || !this.#sink.release()) return false;
    const again = this.openPart(name);
    if (!again.write(content) || !again.close(options)) return false;
    this.#gaps.splice(0, this.#gaps.length, ...this.#gaps.filter(({ part }) => part !== name));
    return true;
  }

  /** Parts that could not be written (a full disk), with the system's error code. */
  get unwritten(): readonly { part: string; code: string }[] {
    return this.#unwritten.filter(({ part }) => !this.#parts.has(part));
  }

  /**
   * Writes a part in chunks. When complete, it replaces one of the same name. Neither this nor the methods of the result ever
   * throw.
   */
  openPart(name: string): OpenPart {
    try {
      requirePartName(name);
      return new StreamedPart(this.#sink, name, (part) => this.#accept(part), this.#refuse(name));
    } catch (error) {
      this.#refuse(name)(failureCode(error));
      return failedPart;
    }
  }

  /** The bytes of a part that was written; undefined if there is none. Never throws. */
  readBack(name: string): Uint8Array | undefined {
    if (!this.#parts.has(name)) return undefined;
    try {
      return this.#sink.read(name, readBackLimit);
    } catch {
      return undefined;
    }
  }

  /** Removes a written part and records why. Never throws. */
  dropPart(name: string, reason: string): void {
    try {
      if (this.#parts.has(name)) this.#remove(name);
      this.addGap({ part: name, reason });
    } catch (error) {
      this.addGap({ part: name, reason: `${reason}; it could not be removed: ${failureCode(error)}` });
    }
  }

  addGap(gap: ManifestGap): void {
    if (this.#gaps.length > mostGaps) return;
    const isLast = this.#gaps.length === mostGaps;
    const said = isLast ? { part: manifestName, reason: 'further gaps are not listed' } : gap;
    const kept = { ...said, reason: said.reason.slice(0, longestReason) };
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

  /** Writes the current state to disk before something that may take long. Never throws. */
  checkpoint(): void {
    try {
      this.#sink.checkpoint();
    } catch {
      // The seal reports it, if it can't write either.
    }
  }

  /**
   * Writes the manifest and makes the bundle final. Returns its path. If the disk has no room for the manifest, the last
   * parts, which are the least valuable, are removed for it. Throws `unwritable` if even that is not enough: the partial
   * folder remains readable.
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
        // It can't be removed either.
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

  /** Removes everything of the bundle. Never throws. */
  discard(): void {
    this.#sink.discard();
  }

  /** If nothing can be appended, the ledger does not know the bundle, and `verify` says so. */
  #enterLedger(manifest: Uint8Array): void {
    if (!this.#keepsLedger) return;
    try {
      const hash = startSha256().update(manifest).digest('hex');
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

  /** If the progress file can't grow, the reader of a torn bundle lacks some hashes, and nothing else. */
  #note(line: ProgressLine): void {
    try {
      this.#sink.note(asLine(line));
    } catch {
      // The part or the gap will still be in the manifest.
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
  readonly #hash = startSha256();
  readonly #file: SinkFile;
  #bytes = 0;
  #isOpen = true;

  /** Throws if the file can't be created. */
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

  /** Creating and renaming a file takes little space: the reserve is for that and for the manifest. */
  #orAfterRelease<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (!this.#sink.release()) throw error;
      return step();
    }
  }
}
