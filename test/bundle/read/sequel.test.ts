import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSequel } from '../../../src/bundle/read/sequel.ts';
import { writeEnds, writeSequel } from '../../../src/bundle/write/write-sequel.ts';
import { temporaryFolder } from '../../support/victims/run-victim.ts';

const at = '2026-11-24T10:00:00.000Z';

test('the first word stands, and is read back', (t) => {
  const bundle = join(temporaryFolder(t), 'one.agentdump');
  writeEnds([bundle], 9);
  assert.equal(readSequel(bundle), undefined, 'of a bundle that is gone nothing is written');
  mkdirSync(bundle);
  writeEnds([bundle], 9);
  writeSequel(bundle, { event: 'died', at });
  const { event, exitCode } = readSequel(bundle) ?? {};
  assert.deepEqual([event, exitCode], ['ended', 9]);
});

test('what is no sequel is none', (t) => {
  const bundle = join(temporaryFolder(t), 'one.agentdump');
  const whole = { schema: 'agentdump.sequel', version: 1, event: 'ended', at, exitCode: 1 };
  const read = (text: string) => {
    writeFileSync(`${bundle}.sequel`, text);
    return readSequel(bundle);
  };
  assert.equal(read(JSON.stringify(whole))?.exitCode, 1);
  const text = JSON.stringify(whole);
  for (let length = 0; length < text.length; length++) assert.equal(read(text.slice(0, length)), undefined);
  for (const change of [
    { exitCode: '9' },
    { exitCode: 1.5 },
    { exitCode: null },
    { event: 'began' },
    { at: 'yesterday' },
    { silentMs: -1 },
    { version: 2 },
    { schema: 'other' },
  ])
    assert.equal(read(JSON.stringify({ ...whole, ...change })), undefined, JSON.stringify(change));
  for (const other of ['null', '[]', '7', `${text}${' '.repeat(5000)}`]) assert.equal(read(other), undefined);
});
