/**
 * The index in a folder: PostgreSQL compiled to WebAssembly (PGlite), which is loaded only here. It can be used by one
 * process at a time, so a lease is held while it is open, and other processes wait. Its process may be killed at any moment:
 * the next one replays the log, as a server would.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FileLease } from '../../durable/stores/file-lease.ts';
import { AgentdumpError } from '../../errors.ts';
import type { IndexDatabase } from './database.ts';
import { makeTables } from './tables.ts';

export interface FolderOptions {
  /** How long to wait for another process that has the store open. */
  waitMs?: number;
  /** Called once, before waiting. */
  onWait?: (sentence: string) => void;
  /** To read it: a folder without a store is an error then, and nothing is created in it. */
  mustExist?: boolean;
}

const defaultWaitMs = 60_000;
const lookEveryMs = 100;

/** Throws `held` if another process keeps it open, `usage` if PGlite was not installed. */
export async function openFolderIndex(folder: string, options: FolderOptions = {}): Promise<IndexDatabase> {
  const { PGlite } = await importPglite();
  mkdirSync(join(folder, 'lease'), { recursive: true, mode: 0o700 });
  const lease = await takeLease(folder, options);
  try {
    const data = join(folder, 'index');
    if (!existsSync(data)) await makeIndex(folder, data, PGlite);
    const database = await PGlite.create(data);
    await database.transaction((transaction) =>
      makeTables(async (text, values) => (await transaction.query<never>(text, values)).rows),
    );
    return {
      place: folder,
      query: async (text, values) => (await database.query<never>(text, values)).rows,
      transaction: (work) =>
        database.transaction((transaction) =>
          work(async (text, values) => (await transaction.query<never>(text, values)).rows),
        ),
      close: async () => {
        await database.close();
        lease.release();
      },
    };
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** Under a temporary name until it is complete, so that a killed process leaves no incomplete database. */
async function makeIndex(
  folder: string,
  data: string,
  { create }: { create(path: string): Promise<{ close(): Promise<void> }> },
) {
  const draft = join(folder, 'index.new');
  rmSync(draft, { recursive: true, force: true });
  await (await create(draft)).close();
  renameSync(draft, data);
}

async function takeLease(
  folder: string,
  { waitMs = defaultWaitMs, onWait }: FolderOptions,
): Promise<FileLease> {
  const until = Date.now() + waitMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return FileLease.take(join(folder, 'lease'), folder);
    } catch (error) {
      if (!(error instanceof AgentdumpError) || error.code !== 'held') throw error;
      const { holder } = error.details;
      if (Date.now() > until)
        throw new AgentdumpError('held', `the store ${folder} is held by ${holder}`, { run: folder, holder });
      if (isFirst) onWait?.(`waiting for ${holder}, which has the store ${folder} open`);
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }
}

async function importPglite() {
  try {
    return await import('@electric-sql/pglite');
  } catch (cause) {
    const wanted =
      'a store in a folder needs the package @electric-sql/pglite, an optional dependency: npm install @electric-sql/pglite';
    throw new AgentdumpError('usage', wanted, { argument: 'store' }, cause);
  }
}
