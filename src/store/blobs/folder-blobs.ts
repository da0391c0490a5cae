/** Blobs as files: written under a temporary name, flushed, and then renamed, so that each is complete or absent. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import type { Blobs } from './blobs.ts';
import { openDrafts } from './drafts.ts';

export function openFolderBlobs(folder: string): Blobs {
  const locate = (name: string) => join(folder, name.slice(0, 2), name);
  return {
    place: folder,
    draft: openDrafts(join(folder, 'drafts')),
    keep: async (name, draft) => {
      flush(draft);
      mkdirSync(join(folder, name.slice(0, 2)), { recursive: true, mode: 0o700 });
      renameSync(draft, locate(name));
    },
    read: async (name) => {
      const path = locate(name);
      if (!existsSync(path))
        throw new AgentdumpError('not-found', `the store has no bundle at ${path}`, { path });
      return path;
    },
    release: () => {},
    drop: async (name) => rmSync(locate(name), { force: true }),
    locate,
    close: async () => {},
  };
}

function flush(path: string): void {
  const fd = openSync(path, 'r+');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
