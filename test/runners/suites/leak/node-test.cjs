const assert = require('node:assert');
const { test } = require('node:test');
const { handle } = require('./store.cjs');

for (let number = 0; number < 80; number++)
  test(`request ${number}`, () => assert.equal(handle(number), 1000));
