const test = require('ava');
test('passes', (t) => t.is(1 + 1, 2));
test('fails', (t) => t.is(1 + 1, 3));
