/** The limit of the old generation, at which V8 aborts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedLimit, oldSpaceOf } from '../../../src/capture/heap/memory-sampler.ts';

const mb = 1024 ** 2;
const spaces = [
  { space_name: 'read_only_space', space_used_size: 1 },
  { space_name: 'new_space', space_used_size: 2 },
  { space_name: 'shared_space', space_used_size: 4 },
  { space_name: 'new_large_object_space', space_used_size: 8 },
  { space_name: 'old_space', space_used_size: 100 },
  { space_name: 'code_space', space_used_size: 20 },
  { space_name: 'large_object_space', space_used_size: 3 },
];

test('what the command line asks for is the limit, else that of V8 without the young generation', () => {
  assert.deepEqual(oldSpaceOf(4288 * mb, spaces, 100 * mb), { used: 123, limit: 100 * mb });
  assert.deepEqual(oldSpaceOf(4288 * mb, spaces, undefined), { used: 123, limit: 4096 * mb });
  assert.deepEqual(oldSpaceOf(250 * mb, spaces, undefined), { used: 123, limit: 125 * mb });
});

test('the last limit in the arguments counts, in every spelling', () => {
  const limits: [words: string, limitMb: number | undefined][] = [
    ['--max-old-space-size=300', 300],
    ['--max_old_space_size 300 app.js', 300],
    ['--max-old-space-size=300 --no-warnings --max-old_space-size=40', 40],
    ['--no-warnings', undefined],
    ['--max-old-space-size=0', undefined],
    ['--max-old-space-size=many', undefined],
    ['--max-old-space-size-percentage=50', undefined],
    ['--max-old-space-size=99999999999999', undefined],
  ];
  for (const [words, limitMb] of limits)
    assert.equal(askedLimit(words), limitMb === undefined ? undefined : limitMb * mb, words);
});
