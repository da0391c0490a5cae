/** What a native holder reports of a fault: complete, of another process, and torn at every position. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHoldNote } from '../../../src/supervise/native/hold-note.ts';

const section = (name: string, value: object) =>
  `DD_CRASHTRACK_BEGIN_${name}\n${JSON.stringify(value)}\nDD_CRASHTRACK_END_${name}\n`;
const note = [
  section('SIGINFO', { si_code: 1, si_signo: 11, si_addr: '0x0000000000000018' }),
  section('PROCESSINFO', { pid: 4838, tid: 4840 }),
  section('UCONTEXT', { registers: { rip: '0x18b65f4', rsp: '0x7ffcb8b68f10', odd: '0x1', rax: 'much' } }),
].join('');

test('signal, thread, registers', () => {
  assert.deepEqual(parseHoldNote(note, 4838), {
    tid: 4840,
    registers: { rip: 0x18b65f4n, rsp: 0x7ffcb8b68f10n },
    signal: 11,
    code: 1,
    address: 0x18n,
  });
});

test('of another process it tells nothing', () => {
  assert.equal(parseHoldNote(note, 4839), undefined);
});

test('torn anywhere it tells all or nothing', () => {
  const whole = parseHoldNote(note, 4838);
  for (let length = 0; length < note.length; length++) {
    const found = parseHoldNote(note.slice(0, length), 4838);
    if (found) assert.deepEqual(found, whole);
  }
});
