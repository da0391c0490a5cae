/**
 * Exercises the code path that records a value before there is one to record. A death between a step's return and its record
 * leaves the step in doubt, and this shortens that interval. Writes nothing, and is independent of the record types. Done
 * once per process for each kind of store and each way of storing values, because later runs use what V8 has compiled.
 */

import { recordFrame } from '../../journal/layout/journal.ts';
import { checksumOf } from '../../journal/write/checksum.ts';
import { putRecordFrame } from '../../journal/write/frame.ts';
import type { RecordCodec } from '../records/codec.ts';
import { ownTimer } from '../steps/own-pause.ts';
import type { DurableStore, RunHandle } from '../stores/store.ts';
import { Rehearsal } from './rehearsal.ts';

/** A resume that has little left to do is over before, and does not pay for what only later steps would gain by. */
const laterMs = 25;
/** About 2 ms each at first, a fifth of a millisecond once V8 has compiled the code. */
const slices = 40;
const roundsInSlice = 50;
/** V8 compiles a regular expression at the first call, and optimizes it at the second. */
const firstRounds = 3;
const stepsInSlice = 5;
/** A sample of what results consist of: V8 compiles for the kinds of values that it has seen. */
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

/** By the class of the store, and how values are stored. */
const known = new WeakMap<object, Map<RecordCodec['mode'], Warming | 'done'>>();

/**
 * Performs one round at once, because the first record takes 7 ms otherwise; in 3 of 100 kills the death fell into that time.
 */
export async function warmUp(codec: RecordCodec, store: DurableStore, handle: RunHandle): Promise<void> {
  const modes = known.get(store.constructor) ?? new Map<RecordCodec['mode'], Warming | 'done'>();
  known.set(store.constructor, modes);
  const begun = modes.get(codec.mode);
  if (begun === 'done') return;
  const rehearsal = new Rehearsal(codec, store, handle);
  if (begun) {
    // The previous run may be over, and its journal closed.
    Object.assign(begun, { codec, rehearsal });
    return;
  }
  const warming: Warming = { codec, rehearsal, left: slices };
  modes.set(codec.mode, warming);
  for (let round = 0; round < firstRounds; round++) warm(codec);
  await rehearsal.perform(value);
  ownTimer(() => warmLater(warming, () => modes.set(codec.mode, 'done')), laterMs).unref();
}

/**
 * Continues between the host's own work, until V8 has compiled the code. Time from a return to its record, after a wait of 9
 * ms on Node 20: 250 µs interpreted, 125 µs compiled; the rest is due to cold caches after a wait.
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
