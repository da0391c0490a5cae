/** Where work began whose error the program makes itself. */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { integrateLangChain } from '../../../src/agent/integrations/langchain.ts';
import { BeginSites } from '../../../src/agent/record/begin-sites.ts';
import { LateSink } from '../../../src/agent/record/late-sink.ts';
import { AgentRecorder } from '../../../src/agent/record/recorder.ts';

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

/** A connection that has ended with this error. */
function sitesOfConnection(fields: { message: string; syscall?: string; address?: string; port?: number }) {
  const sites = new BeginSites();
  const socket = new Socket();
  socket.on('error', () => {});
  sites.beginConnection(socket);
  const failure = Object.assign(new Error(fields.message), fields);
  socket.destroy(failure);
  return { sites, failure, socket };
}

const refused = {
  message: 'connect ECONNREFUSED 127.0.0.1:1',
  syscall: 'connect',
  address: '127.0.0.1',
  port: 1,
};

test('a connection is found by its error, and by one that repeats its words', () => {
  const { sites, failure } = sitesOfConnection(refused);
  const quoting = new Error(`no database: ${refused.message}`);
  for (const error of [failure, quoting])
    assert.equal(sites.find([error], undefined, '/own.js')?.what, 'connection to 127.0.0.1:1');
  assert.equal(sites.find([quoting], {}, '/own.js'), undefined);
  assert.equal(sites.find([new Error('connect ECONNREFUSED 10.0.0.7:1')], undefined, '/own.js'), undefined);
});

test('words without an address are nobody’s', () => {
  const { sites, failure } = sitesOfConnection({ message: 'read ECONNRESET', syscall: 'read' });
  assert.equal(sites.find([failure], undefined, '/own.js')?.what, 'connection');
  assert.equal(sites.find([new Error('read ECONNRESET')], undefined, '/own.js'), undefined);
});

test('a connection that its client ended did not fail', () => {
  assert.deepEqual(sitesOfConnection({ message: 'reset' }).sites.failedConnections('/own.js'), []);
  assert.equal(sitesOfConnection(refused).sites.failedConnections('/own.js').length, 1);
});

test('to ask whose work the running code is captures no stack', (t) => {
  const recorder = new AgentRecorder(
    new LateSink(() => undefined),
    { model: 'content', http: 'metadata' },
    0,
  );
  const tap = integrateLangChain(recorder);
  t.after(() => tap.undo());
  // More often than stacks are captured in a second.
  for (let at = 0; at < 100; at++) assert.deepEqual(recorder.scope, {});
  const work = {};
  recorder.sites.begin(work, 'request');
  assert.equal(recorder.sites.find([], work, '/own.js')?.what, 'request');
});
