/**
 * Hostile journals in a bundle: wrong frames and seals, records that no writer produces, text for terminals, CI runners and
 * models.
 */

import { type SynthRecord, type SynthSegment, synthSegment } from '../synth/synth-journal.ts';
import {
  escapes,
  type HostileInput,
  instructions,
  markup,
  nested,
  withParts,
  workflowCommands,
} from './synth-bundle-hostile.ts';

const journal = (fault: string, bytes: Uint8Array, says?: RegExp): HostileInput =>
  withParts(`journal/${fault}`, { 'recorder.journal': bytes }, says);
const segment = (fault: string, options: SynthSegment, says?: RegExp): HostileInput =>
  journal(fault, synthSegment(options).bytes, says);
const records = (fault: string, list: SynthRecord[], says?: RegExp): HostileInput =>
  segment(fault, { version: 2, records: list }, says);

const started = (id: string, name: string): SynthRecord => ({
  kind: 32,
  payload: JSON.stringify({ seq: 1, at: 1e12, kind: 'run.start', run: id, source: 'x', name }),
});
/** Record kinds of the format. */
const sealKey = 17;
const logTail = 9;

export function journalFaults(): HostileInput[] {
  const { bytes } = synthSegment({ records: [started('r1', 'a run'), started('r2', 'another')] });
  const ageLike = Buffer.from(
    `age-encryption.org/v1\n-> scrypt ${'A'.repeat(22)} 99\n${'A'.repeat(43)}\n--- x\n`,
  );
  return [
    journal('empty', Buffer.alloc(0)),
    journal('no-journal', Buffer.from('PK\u0003\u0004 something else')),
    journal('torn-in-its-header', bytes.subarray(0, 100)),
    journal('torn-in-a-record', bytes.subarray(0, -9)),
    journal(
      'header-two-thousand-times',
      Buffer.concat(Array.from({ length: 2000 }, () => bytes.subarray(0, 128))),
    ),
    journal('magic-in-every-byte', Buffer.alloc(200_000, 0x89)),
    segment('of-a-later-version', { version: 9, records: [started('r1', 'later')] }),
    segment('time-beyond-all-dates', { records: [{ ...started('r1', 'late'), atMs: 1e300 }] }),
    records('length-of-four-gigabytes', [{ ...started('r1', 'long'), length: 0xffffffff }]),
    records('number-that-jumps-to-the-end', [
      started('r1', 'one'),
      { ...started('r2', 'two'), seq: 2 ** 52 },
    ]),
    records('text-that-is-not-utf-8', [
      { kind: 32, flags: 1, payload: Buffer.from([0xff, 0xfe, 0xc0, 0x80]) },
    ]),
    records('json-nested-100000-deep', [{ kind: 32, payload: nested(100_000) }]),
    records('json-that-is-a-number', [{ kind: 32, payload: '1e999' }]),
    records('prototype-in-an-event', [
      { kind: 32, payload: '{"__proto__":{"kind":"run.start"},"constructor":{"prototype":{}}}' },
    ]),
    records('runs-that-are-each-others-parent', [
      {
        kind: 32,
        payload: '{"seq":1,"at":1,"kind":"run.start","run":"a","parent":"b","source":"x","name":"a"}',
      },
      {
        kind: 32,
        payload: '{"seq":2,"at":2,"kind":"run.start","run":"b","parent":"a","source":"x","name":"b"}',
      },
    ]),
    records(
      'sealed-without-a-key',
      [{ kind: 45, flags: 3, payload: Buffer.alloc(64, 1) }],
      /records are sealed/,
    ),
    records(
      'sealed-for-nobody',
      [
        { kind: sealKey, flags: 0, payload: ageLike },
        { kind: 45, flags: 3, payload: Buffer.alloc(64, 1) },
      ],
      /records are sealed/,
    ),
    records(
      'sealed-and-shorter-than-its-tag',
      [{ kind: 45, flags: 3, payload: Buffer.alloc(3) }],
      /are sealed/,
    ),
    records(
      'a-thousand-keys',
      Array.from({ length: 1000 }, (_, i) => ({ kind: sealKey, flags: 0, payload: Buffer.from(`key ${i}`) })),
    ),
    records('escapes-in-a-log', [
      { kind: logTail, payload: JSON.stringify({ stream: 'stdout', text: escapes }) },
    ]),
    records('escapes-in-a-run', [started('r1', escapes)]),
    records('workflow-commands-in-a-run', [started('r1', workflowCommands)]),
    records('markup-in-a-run', [started('r1', markup)]),
    records('instructions-in-a-run', [started('r1', instructions)]),
    records('log-of-no-stream', [{ kind: logTail, payload: '{"stream":"constructor","text":["x"]}' }]),
  ];
}
