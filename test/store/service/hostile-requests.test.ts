/** Requests that no client of ours sends: each has an answer that says what is wrong, and the others are served meanwhile. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { packBundle } from '../../../src/bundle/finished/pack.ts';
import { listIssues } from '../../../src/store/issues.ts';
import { randomId, writeDeath } from '../synth-death.ts';
import { serviceUnderTest } from './under-test.ts';

const at = serviceUnderTest();
const { ask, offer, offerOf, put, sendAs, nothingIsLeft, tokens, notes } = at;
const sha256 = 'b'.repeat(64);

function dial(): Socket {
  const { hostname, port } = new URL(at.service.url);
  return connect(Number(port), hostname).on('error', () => {});
}

/** The status of what is answered to bytes as they are. */
function statusOf(request: string | Buffer): Promise<number> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = dial();
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      answer += text;
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? [];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.on('close', () => resolve(0));
    socket.write(request);
  });
}

const requestOf = (line: string, headers: string[], body = ''): string =>
  `${line} HTTP/1.1\r\nhost: x\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n${body}`;

test('requests that break HTTP are refused', async () => {
  const token = `authorization: Bearer ${tokens.send}`;
  const cases: [what: string, status: number, request: string | Buffer][] = [
    ['headers of 100 KB', 431, requestOf('GET /health', [`x-a: ${'a'.repeat(100_000)}`])],
    [
      '10,000 headers',
      431,
      requestOf(
        'GET /health',
        Array.from({ length: 10_000 }, (_, n) => `x-${n}: 1`),
      ),
    ],
    ['an address of 100 KB', 431, requestOf(`GET /${'a'.repeat(100_000)}`, [])],
    [
      'a length and chunks',
      400,
      requestOf('POST /v1/offers', [token, 'content-length: 4', 'transfer-encoding: chunked'], '0\r\n\r\n'),
    ],
    [
      'two lengths',
      400,
      requestOf('POST /v1/offers', [token, 'content-length: 4', 'content-length: 5'], '{}{}'),
    ],
    ['a length below zero', 400, requestOf('POST /v1/offers', [token, 'content-length: -1'])],
    ['a length of words', 400, requestOf('POST /v1/offers', [token, 'content-length: many'])],
    ['a NUL in a header', 400, requestOf('GET /health', ['x-a: a\0b'])],
    ['a blank in an address', 400, requestOf('GET /he alth', [])],
    [
      'a chunk of no size',
      400,
      requestOf('POST /v1/offers', [token, 'transfer-encoding: chunked'], 'zz\r\n{}\r\n'),
    ],
    ['a body that is not there', 400, requestOf('POST /v1/offers', [token, 'content-length: 0'])],
    ['another protocol', 400, Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'latin1')],
    ['HTTP/2 without asking', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a method nobody knows', 400, requestOf('STEAL /v1/offers', [token])],
  ];
  for (const [what, status, request] of cases) assert.equal(await statusOf(request), status, what);
  assert.deepEqual(notes, []);
});

test('tokens that are none are refused', async () => {
  const asked = (authorization: string) => ask('/v1/issues', undefined, { headers: { authorization } });
  for (const word of [
    '',
    'Bearer',
    'Bearer  ',
    'Basic YTpi',
    'Bearer adt_',
    `Bearer adt_${'a'.repeat(8_000)}`,
    "Bearer adt_' or 1=1--",
    `Bearer ${tokens.read.toUpperCase()}`,
    `Bearer ${tokens.read}x`,
    `Bearer ${tokens.read.slice(0, -1)}`,
    `Bearer ${tokens.read},${tokens.send}`,
    `Bearer adt_%00`,
    `Bearer adt_\xff`,
  ]) {
    const response = await asked(word);
    assert.equal(response.status, 401, word);
    assert.match(await response.text(), /serve token/, word);
  }
  for (const [path, method] of [
    ['/v1/issues', 'GET'],
    ['/v1/bundles/0123', 'GET'],
    ['/v1/issues/0123', 'POST'],
  ] as const)
    assert.equal((await ask(path, tokens.send, { method })).status, 403, path);
  assert.deepEqual(notes, []);
});

test('JSON of any kind, and offers that lie', async () => {
  const offered = { sha256, bytes: 10, name: 'x' };
  const bodies: [what: string, status: number, body: string | Buffer][] = [
    ['30,000 lists in lists', 400, '['.repeat(30_000)],
    ['10,000 objects in objects', 400, `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['100 KB', 413, JSON.stringify({ ...offered, more: 'a'.repeat(100_000) })],
    ['bad UTF-8', 400, Buffer.from('{"sha256":"\xff\xfe"}', 'latin1')],
    ['a mark before the text', 400, `\ufeff[]`],
    ['keys of the prototype', 400, '{"__proto__":{"sha256":"x"},"constructor":1}'],
    ['a key twice', 400, `{"sha256":"${sha256}","sha256":"x","bytes":1,"name":"x"}`],
    ['a number beyond all', 400, `{"sha256":"${sha256}","bytes":1e999,"name":"x"}`],
    ['a size of zero', 400, JSON.stringify({ ...offered, bytes: 0 })],
    ['a size beyond the safe ones', 400, `{"sha256":"${sha256}","bytes":9007199254740993,"name":"x"}`],
    ['a name with a NUL', 400, JSON.stringify({ ...offered, name: 'a\0b' })],
    ['a name with a line break', 400, JSON.stringify({ ...offered, name: 'a\nb' })],
    ['a name that clears the screen', 400, JSON.stringify({ ...offered, name: '\x1b[2J' })],
    ['a name that is a folder', 400, JSON.stringify({ ...offered, name: 'a/../b' })],
    ['a SHA-256 in capitals', 400, JSON.stringify({ ...offered, sha256: 'B'.repeat(64) })],
    ['a SHA-256 that is a path', 400, JSON.stringify({ ...offered, sha256: '../'.repeat(21) })],
  ];
  for (const [what, status, body] of bodies) {
    const response = await ask('/v1/offers', tokens.send, {
      method: 'POST',
      body: new Uint8Array(Buffer.from(body)),
    });
    const text = await response.text();
    assert.equal(response.status, status, `${what}: ${text}`);
    assert.match(text, / is not | more than /, what);
  }
  nothingIsLeft();
  assert.deepEqual(notes, []);
});

test('offsets that lie', async () => {
  const file = packBundle(writeDeath(at.dumps)).path;
  const offered = offerOf(file);
  await offer(offered);
  for (const offset of [
    '-1',
    '0.5',
    'NaN',
    '1e999',
    '9007199254740993',
    String(offered.bytes + 1),
    'x',
    '0x1g',
    '١',
    '1,2',
  ]) {
    const response = await ask(`/v1/uploads/${offered.sha256}?bytes=${offered.bytes}&name=x`, tokens.send, {
      method: 'PUT',
      body: 'x',
      headers: { 'upload-offset': Buffer.from(offset).toString('latin1') },
    });
    assert.equal(response.status, 400, offset);
  }
  for (const [bytes, offset] of [
    [offered.bytes - 1, 0],
    [offered.bytes + 5, 3],
    [1, 1],
  ] as const)
    assert.equal((await put({ ...offered, bytes }, readFileSync(file), offset)).status, 400);
  assert.equal((await sendAs('send', file)).outcome, 'stored');
  nothingIsLeft();
});

test('many who offer and upload the same at once store it once', async () => {
  const file = packBundle(writeDeath(at.dumps, { message: randomId() })).path;
  const [offered, bytes] = [offerOf(file), readFileSync(file)];
  const before = (await listIssues(at.store, { all: true })).reduce((sum, { count }) => sum + count, 0);
  for (const { status } of await Promise.all(Array.from({ length: 40 }, () => offer(offered))))
    assert.equal(status, 200);
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async () => (await put(offered, bytes)).status),
  );
  assert.ok(statuses.every((status) => status < 500) && statuses.includes(200), statuses.join());
  assert.ok(['there', 'stored'].includes((await sendAs('send', file)).outcome));
  const after = (await listIssues(at.store, { all: true })).reduce((sum, { count }) => sum + count, 0);
  assert.equal(after, before + 1);
  nothingIsLeft();
});

test('clients that send slowly keep no other waiting', async () => {
  const slow = Array.from({ length: 200 }, (_, n) => {
    const socket = dial();
    socket.write(
      n % 2
        ? 'GET /health HTTP/1.1\r\nx-a: '
        : `POST /v1/offers HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${tokens.send}\r\ncontent-length: 1000\r\n\r\n{`,
    );
    return socket;
  });
  const { outcome, because } = await sendAs('send', writeDeath(at.dumps, { message: randomId() }));
  for (const socket of slow) socket.destroy();
  assert.equal(outcome, 'stored', because);
  assert.equal((await ask('/health')).status, 200);
  nothingIsLeft();
  assert.deepEqual(notes, []);
});
