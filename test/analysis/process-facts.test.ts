/** Facts about the process from several parts, joined. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BundleParts } from '../../src/analysis/bundle-parts.ts';
import { joinProcessFacts } from '../../src/analysis/joins/process-facts.ts';

test('the version of Node is the one that somebody knew', () => {
  const versionIn = (trigger: string, process: string) =>
    joinProcessFacts({
      trigger: { nodeVersion: trigger },
      process: { versions: { node: process } },
    } as unknown as BundleParts)?.nodeVersion;
  assert.equal(versionIn('v24.1.0', '24.1.0'), 'v24.1.0');
  assert.equal(versionIn('unknown', '22.3.0'), 'v22.3.0');
  assert.equal(versionIn('unknown', 'unknown'), undefined);
});
