/** Where work began whose error the program makes itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BeginSites } from '../../src/agent/record/begin-sites.ts';

function sitesOf(...texts: string[]): BeginSites {
  const sites = new BeginSites();
  for (const text of texts) {
    const work = {};
    sites.begin(work, `work of ${text}`);
    sites.willFail(work, text);
  }
  return sites;
}

test('an error is found by its text, if only one fits', () => {
  const sites = sitesOf('lost', 'late', 'late');
  assert.equal(sites.find([new Error('lost')], undefined, '/own.js')?.what, 'work of lost');
  assert.equal(sites.find([new Error('late')], undefined, '/own.js'), undefined);
  assert.equal(sites.find([new Error('other')], undefined, '/own.js'), undefined);
});

test('no code of the program runs for it', () => {
  const refuse = () => {
    throw new Error('a trap');
  };
  const proxy = new Proxy(new Error('lost'), { get: refuse, getOwnPropertyDescriptor: refuse });
  const getter = Object.defineProperty(new Error(), 'message', { get: refuse });
  assert.equal(
    sitesOf('lost').find([proxy, getter, new Error('lost')], undefined, '/own.js')?.what,
    'work of lost',
  );
});
