QUnit.module('some');
QUnit.test('passes', (assert) => assert.equal(1 + 1, 2));
QUnit.test('fails', (assert) => assert.equal(1 + 1, 3));
