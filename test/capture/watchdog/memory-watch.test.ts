/** The watch of memory near its limit: what it reads and takes, and what it leaves when the heap has no room for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeapProfilePart } from '../../../src/bundle/layout/bundle.ts';
import type { MemorySampler } from '../../../src/capture/heap/memory-sampler.ts';
import { hasRoomForProfile } from '../../../src/capture/watchdog/memory/heap-room.ts';
import { MemoryWatch } from '../../../src/capture/watchdog/memory/memory-watch.ts';

const megabyte = 1024 * 1024;

/** A watch of a heap with this limit, whose size the test sets. */
function watchHeap(limitMb: number) {
  let usedMb = 0;
  const profiles: (HeapProfilePart | undefined)[] = [];
  const snapshots: string[] = [];
  const watch = new MemoryWatch({
    percent: 70,
    sampler: {
      read: () => ({ oldSpace: { used: usedMb * megabyte, limit: limitMb * megabyte } }),
    } as unknown as MemorySampler,
    note: (profile) => profiles.push(profile),
    snapshot: (reason) => snapshots.push(reason),
  });
  const fillTo = (toMb: number): void => {
    usedMb = toMb;
    if (watch.look(true)) watch.takeSnapshot();
  };
  return { watch, fillTo, profiles, snapshots };
}

test('a heap with room: each step is noted with the profile, and one snapshot is taken', (t) => {
  const { watch, fillTo, profiles, snapshots } = watchHeap(400);
  t.after(() => watch.stop());
  for (const usedMb of [100, 150, 200, 290, 320]) fillTo(usedMb);
  assert.equal(profiles.length, 4);
  assert.ok(profiles.every((profile) => profile !== undefined));
  assert.deepEqual(snapshots, ["memory is at 73 % of V8's heap limit"]);
});

test('a heap that is all but full: memory is noted, without the profile and the snapshot that it would die of', (t) => {
  const { watch, fillTo, profiles, snapshots } = watchHeap(48);
  t.after(() => watch.stop());
  for (const usedMb of [41, 44]) fillTo(usedMb);
  assert.deepEqual(profiles, [undefined, undefined]);
  assert.deepEqual(snapshots, []);
});

test('a profile that was large needs more room the next time', () => {
  const heap = { used: 300 * megabyte, limit: 400 * megabyte };
  assert.equal(hasRoomForProfile(heap, 10_000), true);
  assert.equal(hasRoomForProfile(heap, 100_000), false);
});
