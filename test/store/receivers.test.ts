/**
 * OpenTelemetry and Sentry as receivers: what they receive, each event once, and the effect of receivers that are down,
 * hostile or selective.
 */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Receiver, receiversOf } from '../../src/store/receivers/receivers.ts';
import { report } from '../../src/store/receivers/report.ts';
import { readOutbox } from '../../src/store/sending/outbox.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';
import { randomId, writeDeath } from './synth-death.ts';

interface Got {
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Answer = (response: ServerResponse, got: readonly Got[]) => void;

const takes: Answer = (response) => response.end('{}');

async function listen(t: TestContext, answer: Answer): Promise<{ got: Got[]; host: string }> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (more: string) => {
      body += more;
    });
    request.on('end', () => {
      got.push({ url: request.url ?? '', headers: request.headers, body });
      answer(response, got);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function receiverOf(environment: Record<string, string>): Receiver {
  const [receiver] = receiversOf(environment);
  return receiver ?? assert.fail('no receiver');
}

const collector = (host: string) => receiverOf({ AGENTDUMP_OTLP: `http://${host}` });

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string };
}

const valuesOf = (attributes: readonly Attribute[]): Record<string, string | undefined> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

test('a collector gets a log record by the conventions, once', async (t) => {
  const dir = temporaryFolder(t);
  const { got, host } = await listen(t, takes);
  const id = randomId();
  writeDeath(dir, { id, release: '1.2.3', host: 'web-1' });
  const receiver = receiverOf({
    AGENTDUMP_OTLP: `http://${host}/base/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-tenant=7',
  });
  for (const _ of [1, 2]) await report(dir, receiver, 'postgres://db/x');
  const [one, ...others] = got;
  assert.equal(others.length, 0);
  assert.equal(one?.url, '/base/v1/logs');
  assert.deepEqual([one?.headers['authorization'], one?.headers['x-tenant']], ['Bearer abc', '7']);
  const [resource] = JSON.parse(one?.body ?? '').resourceLogs;
  const about = valuesOf(resource.resource.attributes);
  assert.deepEqual(
    [about['service.name'], about['service.version'], about['host.name'], about['process.runtime.name']],
    ['agent', '1.2.3', 'web-1', 'nodejs'],
  );
  const [{ scope, logRecords }] = resource.scopeLogs;
  assert.equal(scope.name, 'agentdump');
  const [record] = logRecords;
  assert.equal(record.severityNumber, 21);
  assert.equal(record.timeUnixNano, `${Date.parse('2026-11-21T03:04:05.678Z')}000000`);
  const said = valuesOf(record.attributes);
  assert.equal(said['exception.type'], 'TypeError');
  assert.match(said['exception.message'] ?? '', /Cannot read properties/);
  assert.match(said['exception.stacktrace'] ?? '', /TypeError: Cannot read[\s\S]*at /);
  assert.equal(said['agentdump.bundle.id'], id);
  assert.equal(said['agentdump.bundle.link'], `postgres://db/x, bundle ${id}`);
  assert.equal(said['agentdump.verdict.kind'], 'uncaught-exception');
  assert.match(said['agentdump.signature'] ?? '', /^[0-9a-f]{16}$/);
});

test('Sentry gets an envelope with the account as its attachment, once', async (t) => {
  const dir = temporaryFolder(t);
  const { got, host } = await listen(t, takes);
  const id = randomId();
  writeDeath(dir, { id, release: '1.2.3' });
  const receiver = receiverOf({ AGENTDUMP_SENTRY: `http://abc123@${host}/behind/42` });
  for (const _ of [1, 2]) await report(dir, receiver, undefined);
  const [one, ...others] = got;
  assert.equal(others.length, 0);
  assert.equal(one?.url, '/behind/api/42/envelope/');
  assert.match(String(one?.headers['x-sentry-auth']), /sentry_key=abc123/);
  const items = itemsOf(one?.body ?? '');
  assert.deepEqual(
    items.map(({ head }) => head['type']),
    ['event', 'attachment'],
  );
  const event = JSON.parse(items[0]?.payload ?? '');
  assert.match(event.event_id, /^[0-9a-f]{32}$/);
  assert.deepEqual([event.level, event.release, event.platform], ['fatal', '1.2.3', 'node']);
  const thrown = event.exception.values.at(-1);
  assert.equal(thrown.type, 'TypeError');
  assert.equal(thrown.mechanism.handled, false);
  const inner = thrown.stacktrace.frames.at(-1);
  assert.match(inner.filename, /\.[jt]s$/);
  assert.equal(event.contexts.agentdump['agentdump.bundle.id'], id);
  assert.equal(JSON.parse(items[1]?.payload ?? '').bundle.id, id);
});

/** Parses an envelope: a header line, then items by their lengths. */
function itemsOf(body: string): { head: Record<string, unknown>; payload: string }[] {
  const bytes = Buffer.from(body);
  let at = bytes.indexOf('\n') + 1;
  const items = [];
  while (at < bytes.length) {
    const end = bytes.indexOf('\n', at);
    const head = JSON.parse(bytes.toString('utf8', at, end)) as { length: number };
    items.push({
      head: head as unknown as Record<string, unknown>,
      payload: bytes.toString('utf8', end + 1, end + 1 + head.length),
    });
    at = end + 1 + head.length + 1;
  }
  return items;
}

test('one that is away is told later, and what it refuses is not told again', async (t) => {
  const dir = temporaryFolder(t);
  const bundle = basename(writeDeath(dir));
  let status = 503;
  const { got, host } = await listen(t, (response) => response.writeHead(status).end('no room'));
  const receiver = collector(host);
  await report(dir, receiver, undefined);
  const outbox = readOutbox(dir, receiver.place);
  assert.deepEqual(
    outbox.waiting.map(({ name }) => name),
    [bundle],
  );
  assert.match(outbox.failure?.because ?? '', /the collector at .* answered 503: no room/);
  status = 400;
  await report(dir, receiver, undefined);
  assert.deepEqual(readOutbox(dir, receiver.place).waiting, []);
  assert.match(readOutbox(dir, receiver.place).refused[0]?.because ?? '', /answered 400/);
  await report(dir, receiver, undefined);
  assert.equal(got.length, 2);
  const nobody = collector('127.0.0.1:1');
  await report(dir, nobody, undefined);
  assert.match(
    readOutbox(dir, nobody.place).failure?.because ?? '',
    /can't be reached: ECONNREFUSED|bad port/,
  );
});

test('a hostile one: an endless answer, a redirect, a record that it takes in part', async (t) => {
  const dir = temporaryFolder(t);
  writeDeath(dir);
  const endless = await listen(t, (response) => {
    response.writeHead(400);
    const more = () => {
      while (response.write('\u001b[31m no '.repeat(1000)));
      response.once('drain', more);
    };
    more();
  });
  await report(dir, collector(endless.host), undefined);
  const [refused] = readOutbox(dir, collector(endless.host).place).refused;
  assert.ok((refused?.because.length ?? 0) < 3000);
  const redirect = await listen(t, (response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  );
  await report(dir, collector(redirect.host), undefined);
  assert.ok(readOutbox(dir, collector(redirect.host).place).failure);
  const partial = await listen(t, (response) =>
    response.end('{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}'),
  );
  await report(dir, collector(partial.host), undefined);
  assert.equal(readOutbox(dir, collector(partial.host).place).refused[0]?.because, 'too old');
});

test('an address that is none is said', () => {
  for (const [name, value] of [
    ['AGENTDUMP_OTLP', 'collector:4318'],
    ['AGENTDUMP_SENTRY', 'https://sentry.example/1'],
    ['AGENTDUMP_SENTRY', 'https://key@sentry.example/'],
  ] as const)
    assert.throws(() => receiversOf({ [name]: value }), { code: 'usage' }, value);
  assert.deepEqual(receiversOf({}), []);
});
