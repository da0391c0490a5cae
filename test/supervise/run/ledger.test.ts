/** The supervisor's ledger: a changed, removed or torn line is detected. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Ledger, readLedgers } from '../../../src/supervise/run/ledger.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentdump-ledger-'));
after(() => rmSync(dir, { recursive: true }));

const ledger = new Ledger(dir, 'abc');
for (let restarts = 1; restarts <= 4; restarts++)
  ledger.add({ event: 'restart', delayMs: 1, restarts }, `2026-01-01T00:00:0${restarts}.000Z`);
ledger.close();
const path = join(dir, 'supervisors', 'abc.jsonl');
const whole = readFileSync(path, 'utf8');
function read(text: string) {
  writeFileSync(path, text);
  const [reading] = readLedgers(dir);
  return [reading?.lines.length, reading?.brokenAt];
}

test('whole, it is read whole', () => assert.deepEqual(read(whole), [4, undefined]));
test('a changed line breaks the one after it', () =>
  assert.deepEqual(read(whole.replace('"restarts":2', '"restarts":9')), [2, 3]));
test('a removed line shows', () =>
  assert.deepEqual(read(whole.split('\n').toSpliced(1, 1).join('\n')), [1, 2]));
test('a line that is no JSON shows', () => assert.deepEqual(read(`${whole}nonsense\n`), [4, 5]));
test('a last line without its end was cut by a death, and is left out', () =>
  assert.deepEqual(read(whole.slice(0, -10)), [3, undefined]));
test('no folder, no ledgers', () => assert.deepEqual(readLedgers(join(dir, 'nowhere')), []));
