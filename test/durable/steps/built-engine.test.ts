/** The built package: `agentdump/durable` and the engine share their classes, and a worker loads the engine once. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agentdump-built-engine-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a run in a store that the host has made prunes that store's old runs", () => {
  const program = `
    import { agent } from ${JSON.stringify(join(dist, 'index.js'))};
    import { FileStore } from ${JSON.stringify(join(dist, 'durable', 'index.js'))};
    const store = new FileStore(${JSON.stringify(folder)});
    console.log(await agent.run('job', { id: 'r', durable: true, store }, () => agent.step('work', () => 1)));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.equal(said, '1\n');
  assert.ok(readdirSync(join(folder, 'runs')).includes('.looked-at'));
});

test('no class of the engine is in two files', () => {
  const built = join(dist, 'durable');
  const whole = ['index.js', 'engine.js', ...readdirSync(built).filter((name) => name.startsWith('shared-'))];
  for (const name of ['FileStore', 'RunLog', 'DurableRun']) {
    const holders = whole.filter((file) =>
      new RegExp(`\\bclass ${name}\\b|\\b${name} ?= ?class\\b`).test(readFileSync(join(built, file), 'utf8')),
    );
    assert.equal(holders.length, 1, `${name}: ${holders}`);
  }
});
