/** A thread that is stopped while Node loads a module of its own is recognized by its frames, as seen on Node 22 and 26. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoadingModule } from '../../../src/capture/watchdog/main-thread.ts';

const realm = 'node:internal/bootstrap/realm';
const loading = [
  { functionName: '', url: 'node:internal/http2/core' },
  { functionName: 'compileForInternalLoader', url: realm },
  { functionName: 'requireBuiltin', url: realm },
  { functionName: 'getBuiltinModule', url: 'node:internal/modules/helpers' },
  { functionName: 'work', url: 'file:///app/work.js' },
];

test('within the text of a module, and not in a program whose function has the name', () => {
  assert.ok(isLoadingModule(loading));
  assert.ok(!isLoadingModule(loading.slice(2)));
  assert.ok(!isLoadingModule([{ functionName: 'compileForInternalLoader', url: 'file:///app/work.js' }]));
});
