/** Out of descriptors: there is room again for every part, on every Node. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBundle } from '../../src/bundle/finished/list.ts';
import { openBundle } from '../../src/bundle/read/reader.ts';
import { findNodes, runVictim, temporaryFolder } from '../support/run-victim.ts';

for (const node of findNodes())
  for (const file of ['out-of-descriptors.cjs', 'leaks-descriptors.cjs'])
    test(`${node.name}: ${file}`, async (t) => {
      const dir = temporaryFolder(t);
      const env = { AGENTDUMP_HEAP: 'always' };
      await runVictim(node, { file, maxDescriptors: 64, bundles: [] }, { preload: true, dir, env });
      const bundle = openBundle(findBundle('latest', join(dir, 'dumps')));
      const { limits, cgroup } = bundle.readJson('process.json') as { limits: object; cgroup: object };
      const { descriptorCount } = bundle.readJson('handles.json') as { descriptorCount: number };
      bundle.close();
      // As at the death, though room has been made since; one that was handed down may have a number beyond the limit.
      assert.ok(descriptorCount >= 64, `${descriptorCount} of 64`);
      assert.deepEqual(bundle.gaps, []);
      assert.ok(Object.keys(limits).length > 0 && Object.keys(cgroup).length > 0);
      const names = bundle.parts.map(({ name }) => name);
      for (const name of ['memory.json', 'handles.json', 'heap.heapsnapshot.gz', 'sources/1.js'])
        assert.ok(names.includes(name), `${name} is missing of ${names.join(' ')}`);
    });
