/** A temporary folder for a test, removed when the test ends, whatever modes the test gave it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export function scratchFolder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A file system of this size that is unmounted when the test ends; undefined if this user can't mount one. */
export function smallDisk(t: TestContext, kilobytes: number): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'agentdump-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=0700`, 'tmpfs', path], {
      stdio: 'ignore',
    });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  t.after(() => {
    execFileSync('umount', ['-l', path]);
    rmSync(path, { recursive: true });
  });
  return path;
}
