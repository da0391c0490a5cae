const { test } = require('node:test');
const assert = require('node:assert');
test('passes', () => assert.equal(1 + 1, 2));
test('fails', () => assert.equal(1 + 1, 3));
test('leaves an error', () => {
  setTimeout(() => {
    throw new Error('late');
  }, 5);
});
test('is running then', () => new Promise((resolve) => setTimeout(resolve, 50)));
