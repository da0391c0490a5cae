const assert = require('node:assert');
const { handle } = require('./store.cjs');

describe('requests', () => {
  for (let number = 0; number < 80; number++)
    it(`request ${number}`, () => assert.equal(handle(number), 1000));
});
