/**
 * A heap that runs out with fifty requests in flight: the request whose work filled it is named, or none. The victim records
 * which one it really was.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { judgeFilling } from '../../servers/filling-trial.ts';
import { testNodes } from '../../support/run/test-nodes.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';
import { serversInstalled } from '../../support/victims/server-victim.ts';

const skip = serversInstalled ? false : 'npm ci --prefix test/servers was not run';
const ways = ['one loop', 'a cache that all fill at once'];

for (const node of testNodes)
  for (const [index, how] of ways.entries())
    test(`${node.name}: ${how}`, { skip }, async (context) => {
      const trial = { framework: 'http', how, at: 13 * index + node.major } as const;
      const dir = join(temporaryFolder(context), 'dumps');
      const { verdict, told } = await judgeFilling(trial, {
        node: node.path,
        dir,
        env: { AGENTDUMP_CONTEXT: 'always' },
      });
      // On a busy machine a small heap is full before it was sampled: then the request is unknown, or the death leaves
      // nothing.
      assert.notEqual(verdict, 'wrong', told);
      assert.doesNotMatch(told, /did not come to it/);
    });
