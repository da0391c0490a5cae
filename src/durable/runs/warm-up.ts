/**
 * Does what recording a value does before there is one to record. Should the death come between a step's return and its
 * record, the step is in doubt: this makes that time short. Writes nothing, and knows no record. Once in a process for each kind of
 * store and of keeping values: what V8 has compiled, later runs find compiled.
 */

import { recordFrame } from '../../journal/layout/journal.ts';
import { checksumOf } from '../../journal/write/checksum.ts';
import { putRecordFrame } from '../../journal/write/frame.ts';
import type { RecordCodec } from '../records/codec.ts';
import type { DurableStore, RunHandle } from '../stores/store.ts';
import { Rehearsal } from './rehearsal.ts';

/** Some 2 ms each at first, a fifth of a millisecond once V8 has compiled what they run. */
const slices = 40;
const roundsInSlice = 50;
/** V8 compiles a regular expression for the first call, and once more, better, for the second. */
const firstRounds = 3;
const stepsInSlice = 5;
/** A little of what results are made of: V8 compiles for the kinds of values that it has seen. */
const value = {
  text: 'a few words: result of 1, at 10:30 on 2026-01-02',
  file: '/srv/app/notes.txt',
  number: 1,
  list: [true, null, 0.5],
  big: 1n,
};

interface Warming {
  codec: RecordCodec;
  rehearsal: Rehearsal;
  left: number;
}

/** By the class of the store, and how values are kept. */
const known = new WeakMap<object, Map<RecordCodec['mode'], Warming | 'done'>>();

/** Once now: the first time takes 7 ms, and in 3 of 100 kills the death came just then. */
export async function warmUp(codec: RecordCodec, store: DurableStore, handle: RunHandle): Promise<void> {
  const modes = known.get(store.constructor) ?? new Map<RecordCodec['mode'], Warming | 'done'>();
  known.set(store.constructor, modes);
  const begun = modes.get(codec.mode);
  if (begun === 'done') return;
  const rehearsal = new Rehearsal(codec, store, handle);
  if (begun) {
    // The run before may be over, and its journal closed.
    Object.assign(begun, { codec, rehearsal });
    return;
  }
  const warming: Warming = { codec, rehearsal, left: slices };
  modes.set(codec.mode, warming);
  for (let round = 0; round < firstRounds; round++) warm(codec);
  await rehearsal.perform(value);
  warmLater(warming, () => modes.set(codec.mode, 'done'));
}

/**
 * Goes on with it between the host's own work, until V8 has compiled it. From a return to its record, after a wait of
 * 9 ms on Node 20: 250 µs in the interpreter, 125 µs compiled; the rest is that caches are cold after a wait.
 */
function warmLater(warming: Warming, done: () => void): void {
  setImmediate(() => {
    const { codec, rehearsal } = warming;
    for (let round = 0; round < roundsInSlice; round++) warm(codec);
    for (let step = 0; step < stepsInSlice; step++) rehearsal.perform(value).catch(() => {});
    warming.left--;
    if (warming.left > 0) warmLater(warming, done);
    else done();
  }).unref();
}

function warm(codec: RecordCodec): void {
  const payload = Buffer.from(codec.encodeWith({ event: 'end', of: 1, status: 'finished' }, value));
  const bytes = Buffer.concat([Buffer.alloc(recordFrame.bytes), payload]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  putRecordFrame(view, 0, payload.length, 0, 0, 0, 0);
  checksumOf(bytes, view, recordFrame.length, bytes.length, 0);
  codec.decode(payload).readValue();
}
