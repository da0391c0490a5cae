/**
 * Requests that the program itself aborts: the account says who called `abort()`, although fetch has given the error a stack
 * of its own.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { listBundles } from '../../../src/bundle/finished/list.ts';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn } from '../../support/run/test-nodes.ts';
import { preload, temporaryFolder } from '../../support/victims/run-victim.ts';

const setUp = `
import http from 'node:http';
import { once } from 'node:events';
const server = http.createServer((request, response) => {
  if (request.url === '/slow') response.write('a');
  if (request.url !== '/never') setTimeout(request.url === '/broken' ? closeAll : giveUp, 60);
}).listen(0);
await once(server, 'listening');
const url = 'http://127.0.0.1:' + server.address().port, closeAll = () => server.closeAllConnections();
const control = new AbortController();
let reason;
function giveUp() { control.abort(reason); }
const { signal } = control;
`;

const byGiveUp = /^GET 127\.0\.0\.1:\d+ was aborted: abort\(\) was called in .*giveUp.* \(app\.mjs:12:\d+\)/;

const programs: [string, string, RegExp | undefined][] = [
  ['fetch, before the answer', `await fetch(url, { signal });`, byGiveUp],
  ['fetch, in the body', `await (await fetch(url + '/slow', { signal })).text();`, byGiveUp],
  ['a reason of its own', `reason = new Error('user left'); await fetch(url, { signal });`, byGiveUp],
  ['a reason that is no error', `reason = 'user left'; await fetch(url, { signal });`, byGiveUp],
  [
    'a signal of several',
    `await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(9000)]) });`,
    byGiveUp,
  ],
  ['node:http', `await new Promise((_, reject) => http.get(url, { signal }).on('error', reject));`, byGiveUp],
  [
    'a time limit is nobody’s call',
    `await fetch(url + '/never', { signal: AbortSignal.timeout(300) });`,
    undefined,
  ],
  ['nor is a connection that broke', `await fetch(url + '/broken');`, undefined],
  ['nor one that is aborted already', `giveUp(); await fetch(url, { signal });`, undefined],
];

for (const node of nodesInTurn)
  for (const [name, program, told] of programs)
    test(`${name} (${node.name})`, async (t) => {
      const dir = temporaryFolder(t);
      writeFileSync(join(dir, 'app.mjs'), setUp + program);
      const { status } = spawnSync(node.path, ['--require', preload, 'app.mjs'], {
        cwd: dir,
        env: { HOME: dir, AGENTDUMP_DIR: join(dir, 'dumps') },
      });
      assert.equal(status, 1);
      const [listed, another] = listBundles(join(dir, 'dumps'));
      assert.ok(listed && !another);
      const bundle = openBundle(listed.path);
      t.after(() => bundle.close());
      const { verdict, agent } = await analyzeBundle(bundle);
      const facts = verdict?.evidence.map(({ fact }) => fact) ?? [];
      assert.equal(facts.filter((fact) => told?.test(fact)).length, told ? 1 : 0, facts.join('\n'));
      if (told) assert.match(JSON.stringify(verdict?.nextSteps), /abort\(\) was called/);
      // That of a time limit is recorded where Node's own frames tell it, and names no line.
      else assert.ok(!agent?.aborts?.some(({ frames }) => frames?.some(({ inApp }) => inApp)));
    });
