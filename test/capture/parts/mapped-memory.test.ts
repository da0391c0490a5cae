/** What resident memory is mapped for, from /proc/self/smaps as Linux writes it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { mappedMemory, sumMappings } from '../../../src/capture/parts/heap/mapped-memory.ts';

const kib = 1024;
const mib = 1024 ** 2;

/** Node 24 with two threads, an arena that is full, and reservations that look like arenas. */
const smaps = [
  ['00400000-00b6f000 r--p 00000000 fe:00 260689                             /opt/no/node', 4000],
  ['2ca52000-2ca73000 rw-p 00000000 00:00 0                                  [heap]', 132],
  ['db71500000-db71542000 rw-p 00000000 00:00 0 ', 264],
  // Two arenas: the second is used completely.
  ['7f14c8000000-7f14c8021000 rw-p 00000000 00:00 0 ', 100],
  ['7f14c8021000-7f14cc000000 ---p 00000000 00:00 0 ', 0],
  ['7f14d0000000-7f14d4000000 rw-p 00000000 00:00 0 ', 65_536],
  // Aligned by chance, and not an arena: nothing is reserved behind it.
  ['7f14d8000000-7f14d8040000 rw-p 00000000 00:00 0 ', 256],
  ['7f14e2b00000-7f14e2b01000 ---p 00000000 00:00 0 ', 0],
  ['7f14e2b01000-7f14e3301000 rw-p 00000000 00:00 0 ', 48],
  ['7ffc1f900000-7ffc1f921000 rw-p 00000000 00:00 0                          [stack]', 72],
]
  .map(([head, rss]) => `${head}\nSize:      1 kB\nRss:       ${rss} kB\nPss:      9 kB\nVmFlags: rd wr\n`)
  .join('');

test('arenas, stacks, files and the rest', () => {
  assert.deepEqual(sumMappings(smaps), {
    mallocBytes: (132 + 100 + 65_536) * kib,
    mallocArenas: 2,
    stackBytes: (48 + 72) * kib,
    fileBytes: 4000 * kib,
    otherBytes: (264 + 256) * kib,
  });
});

test('a file that is cut or empty', () => {
  assert.equal(sumMappings('').mallocBytes, 0);
  assert.equal(sumMappings(smaps.slice(0, 200)).fileBytes, 4000 * kib);
});

test('read only where much memory is neither heap nor external, and not of huge processes', () => {
  const usage = { heapTotal: 50 * mib, heapUsed: 40 * mib, external: 10 * mib, arrayBuffers: 0 };
  assert.equal(mappedMemory({ ...usage, rss: 200 * mib }), undefined);
  assert.equal(mappedMemory({ ...usage, rss: 20_000 * mib }), undefined);
  assert.equal(mappedMemory({ ...usage, heapTotal: 500 * mib, rss: 800 * mib }), undefined);
  const mapped = mappedMemory({ ...usage, rss: 900 * mib });
  const rss = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * kib;
  const { mallocArenas: _, ...bytes } = mapped!;
  const sum = Object.values(bytes).reduce((all, part) => all + part, 0);
  assert.ok(Math.abs(sum - rss) < rss / 5, `${sum} of ${rss}`);
  assert.ok(bytes.mallocBytes > 0 && bytes.fileBytes > mib && bytes.stackBytes > 0);
});
