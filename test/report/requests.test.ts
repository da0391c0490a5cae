/**
 * The section with the requests in flight: the request whose work died is marked, and no line is longer than the terminal.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, accountSchema } from '../../src/model/account.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { renderText } from '../../src/report/text.ts';

const account = {
  schema: accountSchema,
  gaps: [],
  requests: [
    { id: 'r2', method: 'GET', path: '/orders/2?key=…', route: '/orders/:id', ageMs: 520, culprit: true },
    { id: 'r1', method: 'POST', path: '/plan', answeredMsBefore: 40, status: 202, requestId: 'a-7' },
    ...Array.from({ length: 20 }, (_, at) => ({
      id: `r${at + 3}`,
      protocol: 'websocket',
      path: `/live/${'x'.repeat(100)}`,
      connection: { bytesRead: 2048, bytesWritten: 10 },
    })),
  ],
} as Account;

test('requests in flight, with route, age, ids and bytes', () => {
  const text = renderText(account);
  assert.match(text, /\nRequests\n {2}● GET \/orders\/2 \(route \/orders\/:id\), for 520 ms\n/);
  assert.match(text, /\n {4}POST \/plan, answered 202 40 ms before, request id a-7\n/);
  assert.match(text.replace(/\s+/g, ' '), /2 KiB in and 10 bytes out on its connection/);
  assert.match(text, /… 10 more requests, see --json/);
});

test('Markdown has the same lines, folded', () => {
  const text = renderMarkdown(account);
  assert.match(
    text,
    /<summary>Requests<\/summary>[\s\S]*● GET \/orders\/2 \(route \/orders\/:id\), for 520 ms\n/,
  );
});

for (const columns of [60, 80, 200])
  test(`no line is longer than ${columns} columns`, () => {
    const lines = renderText(account, { columns }).split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > columns),
      [],
    );
  });
