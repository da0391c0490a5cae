/** Out of descriptors: the account names the place that opened most of them, if that was armed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../../src/analysis/analyze.ts';
import { findBundle } from '../../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../../src/bundle/read/reader.ts';
import { findNodes, runVictim, temporaryFolder } from '../../../support/victims/run-victim.ts';

for (const node of findNodes())
  for (const env of [{ AGENTDUMP_HANDLES: 'stacks' }, {}] as Record<string, string>[])
    test(`${node.name}: ${Object.keys(env)[0] ?? 'not armed'}`, async (t) => {
      const dir = temporaryFolder(t);
      const victim = { file: 'descriptors/leaks-descriptors.cjs', maxDescriptors: 64, bundles: [] };
      await runVictim(node, victim, { preload: true, dir, env });
      const bundle = openBundle(findBundle('latest', join(dir, 'dumps')));
      const { verdict } = await analyzeBundle(bundle);
      bundle.close();
      assert.equal(verdict?.kind, 'resource-exhaustion');
      const text = [...verdict.evidence.map(({ fact }) => fact), ...verdict.nextSteps].join(' ');
      if ('AGENTDUMP_HANDLES' in env)
        assert.match(
          text,
          /\d+ file descriptors were opened at leak \(.*leaks-descriptors\.cjs:12:\d+\) and not closed/,
        );
      else assert.match(text, /set AGENTDUMP_HANDLES=stacks/);
    });
