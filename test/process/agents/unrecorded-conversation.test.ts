/** A conversation that no tap recorded: inferred from the heap, with its text only if the snapshot contains it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { renderText } from '../../../src/report/text.ts';
import { onlyWide } from '../../support/run/test-nodes.ts';
import { assertOfSchema } from '../../support/system/of-schema.ts';
import { bundlesIn, findNodes, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';

async function accountOf(t: TestContext, strings: string) {
  const dir = temporaryFolder(t);
  const node = findNodes().at(-1) ?? assert.fail('no Node');
  const victim = { file: 'agents/unrecorded-conversation.cjs' } as Parameters<typeof runVictim>[1];
  const env = { AGENTDUMP_HEAP: 'always', AGENTDUMP_HEAP_STRINGS: strings };
  await runVictim(node, victim, { preload: true, dir, env });
  const bundle = openBundle(join(dir, 'dumps', bundlesIn(dir)[0] ?? assert.fail('no bundle')));
  const account = await analyzeBundle(bundle);
  assertOfSchema(account);
  bundle.close();
  return account;
}

test('with its words', async (t) => {
  const account = await accountOf(t, 'clean');
  const [candidate] = account.agent?.candidates ?? [];
  assert.equal(candidate?.inferred, true);
  assert.equal(candidate?.messages, 13);
  assert.match(candidate?.path ?? '', /sessions.*\.messages$/);
  assert.deepEqual(candidate?.shown?.at(-1), {
    role: 'assistant',
    content: 'On day 5 you walk along the river.',
  });
  assert.match(renderText(account), /inferred 13 objects in the shape of messages at .*sessions/);
});

test('by its shape alone', { skip: onlyWide }, async (t) => {
  const [candidate] = (await accountOf(t, 'names')).agent?.candidates ?? [];
  assert.equal(candidate?.messages, 13);
  assert.equal(candidate?.shown, undefined);
});
