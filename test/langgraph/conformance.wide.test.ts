/** The suite of LangGraph's authors on the built saver: all of it, counted, nothing skipped. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const vitest = join(here, 'node_modules', 'vitest', 'vitest.mjs');
const skip = existsSync(vitest) ? false : 'npm ci --prefix test/langgraph was not run';

interface VitestResult {
  numTotalTests: number;
  numPassedTests: number;
  testResults: { assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[];
}

test('the validation suite for checkpointers passes whole', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-conformance-'));
  try {
    const out = join(folder, 'result.json');
    await promisify(execFile)(process.execPath, [vitest, 'run', '--reporter=json', `--outputFile=${out}`], {
      cwd: here,
    }).catch(() => undefined);
    const result = JSON.parse(readFileSync(out, 'utf8')) as VitestResult;
    const all = result.testResults.flatMap((file) => file.assertionResults);
    assert.deepEqual(
      all.filter(({ status }) => status !== 'passed').map((each) => [each.status, each.fullName]),
      [],
    );
    const delta = all.filter(({ fullName }) => /delta.?channel.?history/i.test(fullName)).length;
    assert.deepEqual([all.length - delta, delta], [718, 8]);
    assert.equal(result.numPassedTests, result.numTotalTests);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
