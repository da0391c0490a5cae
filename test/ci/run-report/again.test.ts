/**
 * One error that two tests began is one bundle which names both, it is a problem of the run if its process failed by it alone,
 * and the report of a run contains nothing of the run before it.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { verifyFolder } from '../../../src/bundle/finished/verify-folder.ts';
import { problemsOf } from '../../../src/report/ci/wording.ts';
import { runUnderCi } from '../../support/runners/runner-matrix.ts';

const server = `
const { it } = require('node:test');
const http = require('node:http');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Each test starts its own server. The request is sent when the runner awaits it, as supertest does. */
const ask = (path) => {
  const server = http.createServer((request, response) => {
    if (request.url === '/bad' && process.env.AGENTDUMP_TEST_BAD) setTimeout(() => { undefined.total; }, 20);
    response.end('ok');
  });
  const listening = new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { then: (resolve, reject) => listening.then(() => {
    http.get({ port: server.address().port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.resume().on('end', () => { server.close(); resolve(); });
    }).on('error', reject);
  }) };
};
it('reads', () => ask('/'));
it('orders quince', () => ask('/bad'));
it('waits', async () => { await ask('/'); await pause(100); });
it('orders medlar', () => ask('/bad'));
it('waits again', async () => { await ask('/'); await pause(100); });
`;
const other = `
const { it } = require('node:test');
const { spawnSync } = require('node:child_process');
it('a command ends with a bad code, as it should', () => {
  const code = 'process.on("uncaughtException", () => process.exit(1)); throw new RangeError("of a child")';
  require('node:assert').equal(spawnSync(process.execPath, ['-e', code]).status, 1);
});
it('adds', () => { if (process.env.AGENTDUMP_TEST_BAD) require('node:assert').equal(1, 2); });
`;

test('an error of two tests, in two runs and after them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-again-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  writeFileSync(join(folder, 'server.test.cjs'), server);
  writeFileSync(join(folder, 'other.test.cjs'), other);
  const command = ['node', '--test', 'server.test.cjs', 'other.test.cjs'];
  const env = { AGENTDUMP_TEST_BAD: '1' };
  const first = await runUnderCi({ folder, death: 'none', command, env });
  const second = await runUnderCi({ folder, death: 'none', command, env });
  for (const { summary, output } of [first, second]) {
    assert.ok(summary, output);
    const late = summary.bundles.filter(({ title }) => title?.includes('total'));
    assert.equal(late.length, 1, output);
    assert.deepEqual(late[0]?.test?.name, ['orders quince'], output);
    assert.equal(late[0]?.again?.times, 1, output);
    assert.deepEqual(late[0]?.again?.tests, [{ file: 'server.test.cjs', name: ['orders medlar'] }]);
    // On a busy machine the error comes after the end of its test, and is then told after what failed.
    assert.deepEqual(
      new Set(problemsOf(summary).map(({ test }) => test)),
      new Set(['orders quince', 'adds']),
      output,
    );
  }
  const names = (run: typeof first): string[] => run.summary?.bundles.map(({ name }) => name) ?? [];
  assert.ok(names(second).length > 0 && !names(second).some((name) => names(first).includes(name)));
  const green = await runUnderCi({ folder, death: 'none', command });
  assert.equal(green.code, 0, green.output);
  const kept = readdirSync(join(green.report, 'bundles')).filter((name) => name.endsWith('.zip'));
  assert.ok(
    names(second).every((name) => kept.includes(name)),
    kept.join(' '),
  );
  assert.ok(existsSync(join(green.report, 'summary.json')));
  const { verdict, bundles } = verifyFolder(join(green.report, 'bundles'));
  assert.equal(verdict, 'whole', JSON.stringify(bundles));
});
