/** Waits for a test's condition, for as long as a slow machine may need. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const longestMs = 120_000;

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + longestMs; !(await isSo()); await sleep(5))
    assert.ok(performance.now() < endMs, `waited too long for ${isSo}`);
}
