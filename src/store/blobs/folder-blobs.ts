/**
 * Blobs as files: written under a temporary name, flushed, renamed, and their folder flushed, so that each is complete or
 * absent, also after a power cut.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unwritable } from '../../bundle/write/safe-folder.ts';
import { failureCode } from '../../bundle/write/system.ts';
import { AgentdumpError } from '../../errors.ts';
import type { Blobs } from './blobs.ts';
import { openDrafts } from './drafts.ts';

export function openFolderBlobs(folder: string): Blobs {
  const locate = (name: string) => join(folder, name.slice(0, 2), name);
  return {
    place: folder,
    draft: openDrafts(join(folder, 'drafts')),
    async keep(name, draft) {
      const path = locate(name);
      try {
        await flush(draft);
        const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        if (made !== undefined) await flushNames(folder);
        await rename(draft, path);
        await flushNames(dirname(path));
      } catch (error) {
        throw unwritable(path, failureCode(error), error);
      }
    },
    async read(name) {
      const path = locate(name);
      if (!existsSync(path))
        throw new AgentdumpError('not-found', `the store has no bundle at ${path}`, { path });
      return path;
    },
    release: () => {},
    drop: (name) => rm(locate(name), { force: true }),
    locate,
    close: async () => {},
  };
}

/** Waits for the disk beside other work: a store's service answers meanwhile, and the flushes of many blobs become one. */
async function flush(path: string, flags: 'r' | 'r+' = 'r+'): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** What systems and file systems say that flush no folder. */
const refusals = new Set(['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP', 'ENOSYS']);

async function flushNames(folder: string): Promise<void> {
  await flush(folder, 'r').catch((error: NodeJS.ErrnoException) => {
    if (!refusals.has(error.code ?? '')) throw error;
  });
}
