/** Mocha's hook is installed before the main script begins, because the script itself may require what the hook patches. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CausalContext } from '../../src/agent/record/causal-context.ts';
import { mocha } from '../../src/testing/runners/mocha.ts';
import { TestWatch } from '../../src/testing/watch.ts';

const body =
  'class Runner { heard = []; on(event) { this.heard.push(event); } run() { return this.heard; } }';

for (const [type, text] of [
  ['module', `export ${body}`],
  ['commonjs', `${body} module.exports = Runner;`],
] as const)
  test(`its Runner, of type ${type}, is listened to at once, and nothing is imported`, (context) => {
    const folder = writeMocha(context, type, text);
    let imported = 0;
    const importModule = async () => {
      imported++;
      return {};
    };
    const scene = { script: join(folder, 'bin/mocha.js'), environment: {}, isMainThread: true, importModule };
    assert.equal(mocha.hook(new TestWatch({ causal: new CausalContext() }), scene), undefined);
    const loaded = createRequire(join(folder, 'lib/worker.js'))('./runner.js');
    const Runner = loaded.Runner ?? loaded;
    assert.deepEqual(new Runner().run().slice(0, 3), ['test', 'hook', 'fail']);
    assert.equal(imported, 0);
  });

function writeMocha(context: TestContext, type: string, runner: string): string {
  const outer = mkdtempSync(join(tmpdir(), 'agentdump-mocha-'));
  context.after(() => rmSync(outer, { recursive: true, force: true }));
  const folder = join(outer, 'node_modules/mocha');
  mkdirSync(join(folder, 'lib'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'mocha', type }));
  writeFileSync(join(folder, 'lib/runner.js'), runner);
  return folder;
}
