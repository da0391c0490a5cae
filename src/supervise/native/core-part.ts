/**
 * The mini core in a bundle: a core of the program, reduced to what its analysis reads, and redacted. The reduction belongs
 * to analysis, on which this module does not depend: the command line passes it in.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import { newId } from '../../journal/write/session-id.ts';
import { makeDiagnosticsFolder, removeDiagnosticsFolder } from '../evidence/diagnostics.ts';
import { viewProcess } from '../evidence/proc-view.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { bytesFor, freeBytes, mayCopy } from './core-room.ts';
import type { HeldThread } from './held-thread.ts';
import { writeLiveCore } from './live-core.ts';

/** Writes a gzipped mini core of the core at `from` to `to`, redacted by the scrubber. */
export type CoreDigest = (from: string, to: string, scrubber: Scrubber) => Promise<CoreSummary>;

export interface CoreSummary {
  /** The verdict of the core's analysis. */
  verdictKind?: string | undefined;
  /** With the leading v. */
  nodeVersion?: string | undefined;
  /** What the file lacks. A mini core, of which most is left out, can't say it. */
  problems?: string[];
}

export interface CorePart extends CoreSummary {
  bytes: Uint8Array;
}

/** Rejects with what the digest throws. The core at `path` is not removed. */
export function digestCoreFile(
  path: string,
  digest: CoreDigest,
  scrubber: Scrubber,
  command: readonly string[],
): Promise<CorePart> {
  learnWords(command, scrubber);
  return inScratch((folder) => digestInto(folder, path, digest, scrubber));
}

export interface LiveCorePart extends CorePart {
  pauseMs: number;
  gaps: string[];
}

/**
 * For a living process. Its memory is stored unencrypted in a private folder in memory (/dev/shm) while the digest runs, or
 * permanently at `keep`.
 */
export function digestLiveCore(
  pid: number,
  digest: CoreDigest,
  scrubber: Scrubber,
  keep?: string,
): Promise<LiveCorePart> {
  return inScratch(
    async (folder) => {
      learnWords(viewProcess(pid).argv, scrubber);
      const path = keep ?? join(folder, 'core');
      const room = keep === undefined ? { maxBytes: mayCopy(pid, folder) } : {};
      const { pauseMs, gaps } = writeLiveCore(pid, path, room);
      return { ...(await digestInto(folder, path, digest, scrubber)), pauseMs, gaps };
    },
    keep === undefined ? bytesFor(pid) : 0,
  );
}

/** For a process that is held at its fault. `letGo` is called as soon as its memory has been copied, or can't be. */
export function digestHeldCore(
  pid: number,
  held: HeldThread,
  digest: CoreDigest,
  scrubber: Scrubber,
  letGo: () => void,
): Promise<LiveCorePart> {
  return inScratch(async (folder) => {
    learnWords(viewProcess(pid).argv, scrubber);
    const path = join(folder, 'core');
    const { pauseMs, gaps } = writeLiveCore(pid, path, { held, maxBytes: mayCopy(pid, folder) });
    letGo();
    return { ...(await digestInto(folder, path, digest, scrubber)), pauseMs, gaps };
  }, bytesFor(pid)).finally(letGo);
}

/**
 * Adds the secrets of the command line to the known values: in memory they are not preceded by their option. (The core's
 * process note contains the first 80 characters of the command line.) A path in
 * the home folder is shortened, but is no secret: as one, the program's own script would be redacted wherever it is named.
 */
export function learnWords(words: readonly string[], scrubber: Scrubber): void {
  scrubber.argv(words).forEach((clean, i) => {
    const word = words[i] ?? '';
    const isShortened = clean.includes('~') && !clean.includes('[redacted:');
    if (clean !== word && !isShortened) scrubber.addKnown(word.replace(/^--?[\w-]+=/, ''));
  });
}

async function digestInto(
  folder: string,
  path: string,
  digest: CoreDigest,
  scrubber: Scrubber,
): Promise<CorePart> {
  const mini = join(folder, 'mini.gz');
  return { ...(await digest(path, mini, scrubber)), bytes: readFileSync(mini) };
}

/**
 * Runs `work` with a temporary folder, on a file system with this much free space if there is one. If we are killed, a sweep
 * removes the folder.
 */
async function inScratch<T>(work: (folder: string) => Promise<T>, bytes = 0): Promise<T> {
  const id = newId();
  const hasRoom = (place: string) => freeBytes(place) >= bytes;
  const folder = makeDiagnosticsFolder(id, process.env, hasRoom) ?? makeDiagnosticsFolder(id);
  if (folder === undefined)
    throw new Error('neither memory (tmpfs) nor the temporary folder has room for it');
  try {
    return await work(folder);
  } finally {
    removeDiagnosticsFolder(id);
  }
}

export function writeCorePart(bundle: BundleWriter, { bytes }: CorePart, scrubber: Scrubber): void {
  bundle.writePart(partNames.miniCore, bytes);
  bundle.countRedactions(partNames.miniCore, scrubber.counts());
  scrubber.resetCounts();
}
