import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTimeLimits } from '../../../src/analysis/stacks/time-limits.ts';

test('calls of AbortSignal.timeout are found in modules and in CommonJS', async () => {
  const text = [
    'const limit = AbortSignal.timeout(50);',
    'function ask() { return fetch("/", { signal: AbortSignal.any([stop, AbortSignal.timeout(1e3)]) }); }',
    '// AbortSignal.timeout(1)',
    'const word = "AbortSignal.timeout(2)", other = AbortSignal.timeout, third = own.timeout(3);',
  ].join('\n');
  for (const kind of ['module', 'commonjs'] as const)
    assert.deepEqual(await findTimeLimits(text, kind), [
      { line: 1, column: 15 },
      { line: 2, column: 69 },
    ]);
  assert.deepEqual(await findTimeLimits('return AbortSignal.timeout(1);', 'commonjs'), [
    { line: 1, column: 8 },
  ]);
  assert.equal(await findTimeLimits('return AbortSignal.timeout(1);', 'module'), undefined);
  assert.equal(await findTimeLimits('AbortSignal.timeout(', 'commonjs'), undefined);
});
