const { test } = require('uvu');
const assert = require('uvu/assert');
test('passes', () => assert.is(1 + 1, 2));
test('fails', () => assert.is(1 + 1, 3));
test.run();
