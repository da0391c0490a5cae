/** Who may send requests to the workbench: the token, the server's host names, pages of other origins, methods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeRequest } from '../../src/workbench/server/guard.ts';

const token = 'a-token_of-thirty-two-characters';
const ask = (more: { method?: string; url?: string; headers?: Record<string, string> }) =>
  judgeRequest(
    {
      method: 'GET',
      url: `/${token}/items/a?x=1`,
      ...more,
      headers: { host: '127.0.0.1:4000', ...more.headers },
    },
    4000,
    token,
  );
const statusOf = (more: Parameters<typeof ask>[0]): number => {
  const verdict = ask(more);
  return 'status' in verdict ? verdict.status : 200;
};

test('with the token, from the terminal, the page itself or a link', () => {
  const allowed = ask({});
  assert.ok('path' in allowed);
  assert.equal(allowed.path, 'items/a');
  assert.equal(allowed.query.get('x'), '1');
  assert.equal(statusOf({ headers: { host: 'localhost:4000', origin: 'http://localhost:4000' } }), 200);
  assert.equal(statusOf({ headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' } }), 200);
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  assert.equal(statusOf({ headers: link }), 200);
});

test('without the token there is nothing', () => {
  const urls = [
    '/',
    '//',
    '',
    `/${token.slice(1)}/`,
    `/${token}x/`,
    `/x/${token}/`,
    `/${token.toUpperCase()}/`,
  ];
  for (const url of urls) assert.ok(statusOf({ url }) >= 400, url);
  assert.equal(statusOf({ url: '/favicon.ico' }), 404);
});

test('under another name, the server is another one', () => {
  for (const host of [
    'evil.example',
    'evil.example:4000',
    '127.0.0.1',
    '127.0.0.1:4001',
    '[::1]:4000',
    '0.0.0.0:4000',
  ])
    assert.equal(statusOf({ headers: { host } }), 421, host);
  assert.equal(
    'status' in judgeRequest({ method: 'GET', url: `/${token}/`, headers: {} }, 4000, token),
    true,
  );
});

test('no other page may fetch, frame or embed', () => {
  for (const origin of ['null', 'http://evil.example', 'http://localhost:4000', 'https://127.0.0.1:4000'])
    assert.equal(statusOf({ headers: { origin } }), 403, origin);
  for (const [mode, dest] of [
    ['cors', 'empty'],
    ['no-cors', 'image'],
    ['navigate', 'iframe'],
    ['no-cors', 'script'],
  ] as const) {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
    assert.equal(statusOf({ headers }), 403, dest);
    assert.equal(statusOf({ headers: { ...headers, 'sec-fetch-site': 'same-site' } }), 403, dest);
  }
});

test('read only: nothing but the end of a job may be posted, and that by the page alone', () => {
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'POST'])
    assert.equal(statusOf({ method }), 405, method);
  const url = `/${token}/jobs/account-a/cancel`;
  assert.equal(statusOf({ url }), 405);
  assert.equal(statusOf({ url, method: 'POST' }), 403);
  assert.equal(statusOf({ url, method: 'POST', headers: { origin: 'http://127.0.0.1:4000' } }), 200);
});

test('an address that is none, or very long', () => {
  assert.equal(statusOf({ url: 'http://127.0.0.1:4000/' }), 400);
  assert.equal(statusOf({ url: `/${token}/${'x'.repeat(20_000)}` }), 400);
});
