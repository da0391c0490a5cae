/** After a real test run below `agentdump ci`, the commands for bundles find what it left, in the report's own layout. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { synthParts, writeBundle } from '../support/synth/synth-analysis-bundle.ts';

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bin', 'agentdump.js');
const root = mkdtempSync(join(tmpdir(), 'agentdump-after-ci-'));
after(() => rmSync(root, { recursive: true, force: true }));
const report = join(root, 'agentdump-report');
const bundles = join(report, 'bundles');
let name = '';
let shortId = '';

function agentdump(...words: string[]) {
  const { PATH } = process.env;
  return spawnSync(process.execPath, [bin, ...words], { encoding: 'utf8', cwd: root, env: { PATH } });
}

before(() => {
  writeFileSync(
    join(root, 'late.test.mjs'),
    "import { test } from 'node:test';\ntest('orders', () => { setImmediate(() => { throw new TypeError('no stock'); }); });\n",
  );
  const { status, stderr } = agentdump('ci', '--', process.execPath, '--test', 'late.test.mjs');
  assert.equal(status, 1, stderr);
  [name = ''] = readdirSync(bundles).filter((one) => one.endsWith('.zip'));
  shortId = /-([0-9a-f]{8})\.agentdump/.exec(name)![1]!;
});

const isOfTheRun = (stdout: string) => /^✖ Test “orders”: TypeError: no stock/m.test(stdout);

test('latest, the start of an id and the folder of the report find its bundle', () => {
  for (const words of ['latest', shortId, 'agentdump-report', join('agentdump-report', 'bundles')]) {
    const { stdout, stderr } = agentdump('analyze', words);
    assert.ok(isOfTheRun(stdout), `${words}: ${stdout}${stderr}`);
  }
  const { stdout } = agentdump('list', '--dir', 'agentdump-report', '--json');
  assert.deepEqual(
    (JSON.parse(stdout) as { name: string }[]).map((one) => one.name),
    [name],
  );
  assert.equal(agentdump('diff', 'latest', shortId).status, 0);
  assert.match(agentdump('heap', 'summary', 'latest').stderr, /no heap snapshot/);
});

test('latest is the newest of the dump folder and the report', () => {
  const own = join(root, '.agentdump');
  mkdirSync(own);
  const write = (time: string) =>
    writeBundle(join(own, `${time}Z-agent-uncaught-exception-00112233.agentdump`), synthParts({}));
  write('20200101T030405.678');
  assert.ok(isOfTheRun(agentdump('analyze', 'latest').stdout), 'an older death of the program');
  write('20990101T030405.678');
  assert.ok(!isOfTheRun(agentdump('analyze', 'latest').stdout), 'a newer one');
  const { stdout } = agentdump('analyze', 'latest', '--dir', 'agentdump-report');
  assert.ok(isOfTheRun(stdout), 'the folder that is named, alone');
  rmSync(own, { recursive: true });
});

test('an id that stands for two bundles of the dump folder is not looked for in the report', () => {
  const own = join(root, '.agentdump');
  mkdirSync(own);
  for (const time of ['20200101T030405.678', '20200102T030405.678'])
    cpSync(join(bundles, name), join(own, `${time}Z-x-uncaught-exception-${shortId}.agentdump.zip`));
  const { stderr, status } = agentdump('analyze', shortId);
  assert.match(stderr, /more than one bundle/);
  assert.equal(status, 3);
  rmSync(own, { recursive: true });
});

test('a missing bundle is named, and the word for the newest', () => {
  assert.match(
    agentdump('analyze').stderr,
    /the argument <bundle> is missing: agentdump analyze <bundle> \(latest:/,
  );
});
