/** Whose work a run was, in the account of a death: as in the request, or withheld by the policy. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { analyzeBundle } from '../../../../src/analysis/analyze.ts';
import { listBundles } from '../../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../../src/bundle/read/reader.ts';
import { preload, temporaryFolder } from '../../../support/victims/run-victim.ts';

const program = `
import http from 'node:http';
import { once } from 'node:events';
const answer = JSON.stringify({ id: 'x', object: 'chat.completion', model: 'm', choices: [
  { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] });
const server = http.createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(answer);
}).listen(0);
await once(server, 'listening');
const url = 'http://127.0.0.1:' + server.address().port + '/v1/chat/completions';
for (let turn = 0; turn < 2; turn++) {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi ' + turn }], user: 'anna-7' });
  await (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
}
throw new Error('own death');`;

async function idsUnder(t: TestContext, deny: string): Promise<Record<string, string> | undefined> {
  const dir = temporaryFolder(t);
  writeFileSync(join(dir, 'app.mjs'), program);
  spawnSync(process.execPath, ['--require', preload, 'app.mjs'], {
    cwd: dir,
    env: { HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps'), AGENTDUMP_DENY: deny },
  });
  const [listed] = listBundles(join(dir, 'dumps'));
  const bundle = openBundle(listed?.path ?? assert.fail('no bundle'));
  t.after(() => bundle.close());
  return (await analyzeBundle(bundle)).agent?.runs[0]?.ids;
}

test('the user of all requests', async (t) => {
  assert.deepEqual(await idsUnder(t, ''), { user_id: 'anna-7' });
});

test('a denied name: the tag is equal for equal ids', async (t) => {
  const { user_id = '', ...others } = (await idsUnder(t, 'user_id')) ?? {};
  assert.match(user_id, /^\[redacted:denied-name#[0-9a-f]{8}\]$/);
  assert.deepEqual(others, {});
});
