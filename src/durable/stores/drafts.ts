/** Files that are written under a name of their own and get their real one when they are whole. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const draftStart = '.draft-';
/** Also as older releases called them. */
const draftFile = /^(\.draft|\.lease|run-id)-\d+-\d+$/;
/** A draft lives for microseconds; its writer may have been stopped meanwhile. */
const draftLifeMs = 3_600_000;

export const isDraft = (name: string): boolean => draftFile.test(name);

/** A path that nobody else has. */
export function draftIn(folder: string): string {
  return join(folder, `${draftStart}${process.pid}-${process.hrtime.bigint()}`);
}

/** Removes what killed processes have left there. */
export function sweepDrafts(folder: string, nowMs = Date.now()): void {
  for (const name of namesIn(folder)) {
    if (!isDraft(name)) continue;
    const path = join(folder, name);
    const { mtimeMs = nowMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (nowMs - mtimeMs > draftLifeMs) rmSync(path, { force: true });
  }
}

/** None of a folder that is not there, or can't be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
