/** No secret that a process held is in what is told of its core: not in the values of a frame, nor in its source, as text, JSON or page. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { writeMiniCore } from '../../../../src/analysis/core/mini/mini-core.ts';
import type { Account } from '../../../../src/model/account.ts';
import { createPolicy } from '../../../../src/redaction/index.ts';
import { renderCore } from '../../../../src/report/core.ts';
import { renderJson } from '../../../../src/report/json.ts';
import { type Death, makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';

const key = `sk-ant-api03-${'Qm7'.repeat(30)}AA`;
const password = 'correct-horse-battery-9';
const variable = 'v4riable-0f-the-process-77';
/** An argument, a field by its name, a string in the source, a value of the environment, a closure. */
const program = `
const fault = require(${JSON.stringify(join(victims, 'fault.cjs'))});
const options = { user: 'ada', password: process.argv[2] };
const apiKey = process.argv[3];
function connect(text, settings, url) { const used = 'Bearer ' + apiKey; fault.crash(used, settings); }
fault.arm('read-null');
connect('key ' + apiKey, options, 'https://' + process.env.DB_SECRET + '@db.example');
`;

suite('a core of a process that held secrets', { skip: noCores }, () => {
  let folder: string;
  let death: Death;
  let account: Account;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'agentdump-secrets-'));
    const file = join(folder, 'program.cjs');
    writeFileSync(file, program);
    death = makeCore(nodes[0]?.path ?? '', [file, password, key], { env: { DB_SECRET: variable } });
    account = await accountForCore(death.core);
  });
  after(() => {
    death?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const assertClean = (text: string) => {
    for (const secret of [key, password, variable]) assert.ok(!text.includes(secret), `${secret} is told`);
  };

  test('its frames are there, with their values', () => {
    const frame = account.threads?.[0]?.frames.find((f) => f.function === 'connect');
    assert.ok(frame);
    assert.ok(frame.source?.some(({ text }) => text.includes('function connect')));
    const values = new Map(frame.locals?.map(({ name, value }) => [name, value]));
    assert.match(values.get('settings') ?? '', /user: "ada"/);
    assert.match(values.get('text') ?? '', /redacted/);
  });

  test('as text and as JSON', () => {
    assertClean(renderCore(account, { columns: 300, all: true }));
    assertClean(renderJson(account));
  });

  test('what is told while a mini core is written', async () => {
    const redactor = createPolicy({ environment: { DB_SECRET: variable } });
    const written = await writeMiniCore(death.core, join(folder, 'mini'), { redactor });
    assertClean(renderJson(written.account));
    assertClean(renderJson(await accountForCore(join(folder, 'mini'))));
  });
});
