/** Files that are written under a temporary name and renamed or linked when they are complete. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const draftStart = '.draft-';
/** Includes the names that older releases used. */
const draftFile = /^(\.draft|\.lease|run-id)-\d+-\d+$/;
/** A draft normally exists for microseconds, but its writer may have been suspended meanwhile. */
const draftLifeMs = 3_600_000;

export const isDraft = (name: string): boolean => draftFile.test(name);

/** A unique path. */
export function draftIn(folder: string): string {
  return join(folder, `${draftStart}${process.pid}-${process.hrtime.bigint()}`);
}

/** Removes drafts of killed processes. */
export function sweepDrafts(folder: string, nowMs = Date.now()): void {
  for (const name of namesIn(folder)) {
    if (!isDraft(name)) continue;
    const path = join(folder, name);
    const { mtimeMs = nowMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (nowMs - mtimeMs > draftLifeMs) rmSync(path, { force: true });
  }
}

/** Empty if the folder is missing or can't be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
