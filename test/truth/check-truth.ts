/** Runs one death of the table and compares its account with the truth. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { usualNode } from '../support/run/test-nodes.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { judgeSentences } from './sentences.ts';
import type { Truth } from './truths.ts';
import { die, type Witnessed } from './victim.ts';

export function testTruth(truth: Truth): void {
  test(`truth: ${truth.name}`, { timeout: 120_000 }, async (t: TestContext) => {
    const witnessed = await die(truth, temporaryFolder(t), usualNode.path);
    const misses = missesOf(truth, witnessed);
    const { checked, unchecked, wrong } = judgeSentences(witnessed);
    t.diagnostic(`sentences: ${checked} checked, ${unchecked} claim nothing that the log shows`);
    assert.deepEqual(
      wrong.map((text) => `false: ${text}`),
      [],
      witnessed.firstScreen,
    );
    if (truth.miss === undefined) assert.deepEqual(misses, [], witnessed.firstScreen);
    else assert.notDeepEqual(misses, [], `no miss any more: ${truth.miss}`);
  });
}

function missesOf({ kind, cause, open, requested = [], never = [] }: Truth, witnessed: Witnessed): string[] {
  const { account, firstScreen } = witnessed;
  const runs = account.agent?.runs ?? [];
  const pending = runs.flatMap((run) => run.pending);
  const asked = runs.flatMap((run) => run.requested ?? []);
  return [
    ...(account.verdict?.kind === kind ? [] : [`kind ${account.verdict?.kind}, not ${kind}`]),
    ...cause.filter((one) => !one.test(firstScreen)).map((one) => `not on the first screen: ${one}`),
    ...never.filter((one) => one.test(firstScreen)).map((one) => `on the first screen: ${one}`),
    ...(open && open.length !== pending.length ? [`open: ${JSON.stringify(pending)}`] : []),
    ...(open ?? []).filter((one) => !pending.some((text) => one.test(text))).map((one) => `not open: ${one}`),
    ...requested.filter((one) => !asked.some((text) => one.test(text))).map((one) => `not requested: ${one}`),
  ];
}
