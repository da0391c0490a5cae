/** Blobs as files: written under a temporary name, flushed, and then renamed, so that each is complete or absent. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import type { Blobs } from './blobs.ts';

/** Drafts older than this were left behind by killed senders. */
const draftLifeMs = 24 * 60 * 60_000;

export function openFolderBlobs(folder: string): Blobs {
  const drafts = join(folder, 'drafts');
  mkdirSync(drafts, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(drafts)) removeOld(join(drafts, name));
  const locate = (name: string) => join(folder, name.slice(0, 2), name);
  return {
    place: folder,
    draft: (name) => join(drafts, `${name}.${process.pid}-${randomBytes(4).toString('hex')}`),
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
    drop: async (name) => rmSync(locate(name), { force: true }),
    locate,
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

function removeOld(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat && Date.now() - stat.mtimeMs > draftLifeMs) rmSync(path, { force: true });
}
