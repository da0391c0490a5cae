// For a failed `assert.ok(x)` without a message Node before 24 reads the file and parses it from each place where an
// expression may begin; in a file that tsx has made one line that takes more than ten minutes, and looks like a hang. The
// place is in the error's stack all the same.
import assert from 'node:assert';
import strict from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';

const message = 'a value that should be true is not; the stack says where';

for (const one of new Set([assert, strict, assert.strict])) {
  const { ok } = one;
  one.ok = (...given) => (given.length === 1 ? ok(given[0], message) : ok(...given));
}
syncBuiltinESMExports();
