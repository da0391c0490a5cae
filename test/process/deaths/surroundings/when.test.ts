/** Ages and the uptime count to the moment of the death, not to the later one at which the bundle was written. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findBundle } from '../../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../../src/bundle/read/reader.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';
import { preload, root, temporaryFolder } from '../../../support/victims/run-victim.ts';

/** Reading the error's `stack` takes a second of the time in which the bundle is begun. */
const program = `
import { agent } from ${JSON.stringify(join(root, 'dist', 'index.js'))};
import { createServer } from 'node:http';
createServer((request, response) => {
  response.end('soon');
  setTimeout(() => {
    void agent.tool('look up', {}, () => new Promise(() => {}));
    const error = new Error('late');
    const { stack } = error;
    Object.defineProperty(error, 'stack', { get: () => { Atomics.wait(cell, 0, 0, 1000); return stack; } });
    console.log(Date.now());
    throw error;
  }, 50);
}).listen(0, '127.0.0.1', function () { fetch('http://127.0.0.1:' + this.address().port).then((r) => r.text()); });
const cell = new Int32Array(new SharedArrayBuffer(4));
`;

for (const node of nodesInTurn)
  test(`${node.name}: ages count to the death`, (t) => {
    const dir = temporaryFolder(t);
    const file = join(dir, 'late.mjs');
    writeFileSync(file, program);
    const env = { PATH: '', HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps'), AGENTDUMP_CONTEXT: 'always' };
    const { stdout } = spawnSync(node.path, ['--require', preload, file], {
      cwd: dir,
      env,
      encoding: 'utf8',
    });
    const bundle = openBundle(findBundle('latest', join(dir, 'dumps')));
    t.after(() => bundle.close());
    const read = (name: string) => JSON.parse(Buffer.from(bundle.readPart(name) ?? []).toString());
    const { at } = read('trigger.json');
    const died = Date.parse(at);
    assert.ok(died - Number(stdout) < 1_000, `${died - Number(stdout)} ms after it was thrown`);
    assert.equal(read('agent-events.json').at, died);
    const { startedAt, uptimeMs } = read('process.json');
    assert.equal(Date.parse(startedAt) + uptimeMs, died);
    const [request] = read('origin.json').requests;
    assert.ok(request.answered.beforeMs < 1_050, JSON.stringify(request));
  });
