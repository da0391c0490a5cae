/** The ranges of mapped objects, from /proc/self/maps as Linux writes it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findModules } from '../../../src/capture/parts/native-modules.ts';

/** Node 20 on Debian, with its builtins mapped again near V8's code. */
const node = `00400000-00b6f000 r--p 00000000 fe:00 260689                             /opt/no/node
00b6f000-025fe000 r-xp 0076f000 fe:00 260689                             /opt/no/node
02601000-0563a000 r--p 02201000 fe:00 260689                             /opt/no/node
0563e000-0565d000 rw-p 0523d000 fe:00 260689                             /opt/no/node
2ca52000-2ca73000 rw-p 00000000 00:00 0                                  [heap]
`;
const builtins = `7fd7eb600000-7fd7eb792000 r-xp 014c4000 fe:00 260689                     /opt/no/node
`;

test('the builtins that V8 maps again are outside of the range, above or below it', () => {
  const wanted = [{ path: '/opt/no/node', base: '0x400000', end: '0x565d000' }];
  assert.deepEqual(findModules(node + builtins), wanted);
  const below = builtins.replace('7fd7eb600000-7fd7eb792000', '00100000-00292000');
  assert.deepEqual(findModules(below + node), wanted);
});

test('a file without code is no module, and one that is read through a mapping besides is one', () => {
  const library = `7f00a000-7f00b000 r--p 00000000 fe:00 7    /opt/no/addon.node
7f00b000-7f00c000 r-xp 00001000 fe:00 7    /opt/no/addon.node
7f00c000-7f00d000 rw-p 00001000 fe:00 7    /opt/no/addon.node
7f00f000-7f012000 r--p 00000000 fe:00 7    /opt/no/addon.node
7f020000-7f021000 r--p 00000000 fe:00 8    /opt/no/data.bin
`;
  assert.deepEqual(findModules(library), [
    { path: '/opt/no/addon.node', base: '0x7f00a000', end: '0x7f00d000' },
  ]);
});

test('the ranges of this process do not overlap', () => {
  const modules = findModules(readFileSync('/proc/self/maps', 'utf8'));
  assert.ok(modules.some(({ path }) => path === process.execPath));
  const ascending = modules
    .map(({ base, end }) => [BigInt(base), BigInt(end)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [at, [, end]] of ascending.entries()) assert.ok(end <= (ascending[at + 1]?.[0] ?? end));
});
