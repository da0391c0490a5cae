/** Programs that fill memory outside of V8's heap, each in one way: what the analysis says of it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { findNodes, preload, programs, temporaryFolder } from '../../support/victims/run-victim.ts';

const external = (what: string): RegExp => new RegExp(`\\d MiB outside the JavaScript heap \\(${what}\\)`);
const ways: Record<string, RegExp> = {
  buffers: external('Buffers and array buffers'),
  sockets: external('Buffers and array buffers'),
  strings: external('.*WebAssembly memory, long strings.*; hardly any Buffers'),
  // On Node 26, V8 counts it nowhere.
  wasm: /\d MiB outside the JavaScript heap \(.*WebAssembly memory, long strings.*; hardly any Buffers\)|not by malloc: heaps of workers, WebAssembly memory \(which V8 does not count on Node 26\)/,
  malloc: /neither heap nor Buffers .*: allocated by native code/,
  fragments: /neither heap nor Buffers .*not given back by the allocator/,
  zlib: /neither heap nor Buffers .*Node itself for streams/,
  workers: /neither heap nor Buffers .*: mapped, and not by malloc: heaps of workers/,
};

for (const node of findNodes())
  for (const [way, said] of Object.entries(ways))
    test(`${node.name}: ${way}`, async (t) => {
      const folder = temporaryFolder(t);
      const addon = join(folder, 'native-memory.node');
      const isNative = way === 'malloc' || way === 'fragments';
      const source = join(programs, 'heap/native-memory.c');
      if (isNative && spawnSync('cc', ['-shared', '-fPIC', source, '-o', addon]).status !== 0)
        return t.skip('no C compiler');
      const dir = join(folder, 'dumps');
      const words = ['--require', preload, join(programs, 'heap/native-memory.cjs'), way, addon];
      spawnSync(node.path, words, {
        env: { PATH: process.env['PATH'], AGENTDUMP_DIR: dir },
        timeout: 120_000,
      });
      const [died] = listBundles(dir);
      assert.ok(died);
      const bundle = openBundle(died.path);
      const account = await analyzeBundle(bundle);
      bundle.close();
      const facts = (account.environment?.unusual ?? []).map(({ fact }) => fact).join('\n');
      assert.match(facts, said);
    });
