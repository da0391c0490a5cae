/** What finding the classes of recorded errors may cost: each look at the heap takes as long as a collection of it. */
import assert from 'node:assert/strict';
import { Session } from 'node:inspector';
import { test } from 'node:test';
import { decodeValue, encodeValue } from '../../../src/durable/records/values.ts';

const post = Session.prototype.post as (...given: unknown[]) => void;
let looks = 0;
Session.prototype.post = function (this: Session, method: string, ...more: unknown[]) {
  if (method === 'Runtime.queryObjects') looks++;
  post.call(this, method, ...more);
} as typeof Session.prototype.post;

const passThrough = (value: unknown) => decodeValue(JSON.parse(encodeValue(value)));
class FirstFault extends Error {}
class SecondFault extends Error {}

test('one look finds all classes that are loaded, and a log of many that are not costs a few', () => {
  assert.ok(passThrough(new FirstFault('x')) instanceof FirstFault);
  assert.ok(passThrough(new SecondFault('x')) instanceof SecondFault);
  assert.equal(looks, 1);
  const gone = encodeValue(new FirstFault('x'));
  for (let index = 0; index < 40; index++) {
    const text = gone.replaceAll('FirstFault', `Fault${index}`);
    assert.notEqual(text, gone);
    assert.ok(!(decodeValue(JSON.parse(text)) instanceof FirstFault));
  }
  assert.ok(looks > 1 && looks <= 10, `${looks} looks`);
  assert.ok(passThrough(new SecondFault('x')) instanceof SecondFault);
});
