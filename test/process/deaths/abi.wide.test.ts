/**
 * An addon built for another Node version (row 14): the program dies as it does without the preload, and the account names
 * the package.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { findBundle } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { findNodes, preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const source = fileURLToPath(new URL('../../../fixtures/programs/addon/other-abi.c', import.meta.url));
const noCompiler = spawnSync('gcc', ['--version']).error ? 'no gcc here' : false;

for (const node of findNodes())
  test(`${node.name}: an addon built for another Node`, { skip: noCompiler }, async (t) => {
    const dir = temporaryFolder(t);
    const folder = join(dir, 'node_modules', 'fast-thing');
    mkdirSync(folder, { recursive: true });
    const compiled = spawnSync('gcc', ['-shared', '-fPIC', '-o', join(folder, 'thing.node'), source]);
    assert.equal(compiled.status, 0, String(compiled.stderr));
    const manifest = { name: 'fast-thing', version: '2.1.0', main: 'index.js' };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'index.js'), `module.exports = require('./thing.node');`);
    writeFileSync(join(dir, 'app.cjs'), `require('fast-thing');`);
    const dumps = join(dir, 'dumps');
    const run = (words: string[]) =>
      spawnSync(node.path, [...words, 'app.cjs'], {
        cwd: dir,
        encoding: 'utf8',
        env: { PATH: '', HOME: dir, AGENTDUMP_DIR: dumps },
      });
    const bare = run([]);
    const loaded = run(['--require', preload]);
    assert.match(bare.stderr, /NODE_MODULE_VERSION 1\./);
    assert.deepEqual(
      [loaded.status, loaded.stderr.replace(/^agentdump: .*\n/gm, '')],
      [bare.status, bare.stderr],
    );
    const bundle = openBundle(findBundle('latest', dumps));
    const { verdict } = await analyzeBundle(bundle);
    bundle.close();
    assert.equal(verdict?.kind, 'startup-failure');
    assert.match(JSON.stringify(verdict), /fast-thing/);
    assert.match(verdict?.nextSteps.join(' ') ?? '', /npm rebuild/);
  });
