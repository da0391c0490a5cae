/** Structured log lines as a person reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readLogLine } from '../../src/model/process-events/log-line.ts';
import { readableLine, saidLines, tellingLine } from '../../src/model/process-events/printed-lines.ts';
import { fuzzRuns } from '../support/run/fuzz-runs.ts';

const time = Date.UTC(2026, 10, 28, 12, 0, 1, 123);
const iso = new Date(time).toISOString();
const stack = 'TypeError: no card\n    at charge (charge.js:3:9)';

const cases: [name: string, fields: object, text: string][] = [
  ['pino', { level: 30, time, pid: 1, hostname: 'h', msg: 'listening' }, 'INFO 12:00:01.123 listening'],
  [
    'pino with an error',
    { level: 50, time, pid: 1, err: { type: 'TypeError', message: 'no card', stack }, msg: 'charge failed' },
    'ERROR 12:00:01.123 charge failed (TypeError: no card)',
  ],
  [
    'pino with only an error',
    { level: 60, time, err: { type: 'TypeError', message: 'no card', stack }, msg: 'no card' },
    'FATAL 12:00:01.123 no card (TypeError: no card)',
  ],
  ['bunyan', { name: 'shop', level: 40, msg: 'slow', time: iso, v: 0 }, 'WARN 12:00:01.123 slow'],
  [
    'bunyan with an error',
    {
      name: 'shop',
      level: 50,
      err: { message: 'no card', name: 'TypeError', stack },
      msg: 'charge',
      time: iso,
    },
    'ERROR 12:00:01.123 charge (TypeError: no card)',
  ],
  ['winston', { level: 'info', message: 'up', timestamp: iso }, 'INFO 12:00:01.123 up'],
  [
    'winston with a stack',
    { level: 'error', message: 'no card', stack },
    'ERROR no card (TypeError: no card)',
  ],
  ['winston in colour', { level: '\x1b[31merror\x1b[39m', message: 'no' }, 'ERROR no'],
  [
    'Elastic, nested',
    {
      '@timestamp': iso,
      log: { level: 'error' },
      message: 'charge',
      error: { type: 'TypeError', message: 'no card' },
    },
    'ERROR 12:00:01.123 charge (TypeError: no card)',
  ],
  [
    'Elastic, with dots',
    {
      '@timestamp': iso,
      'log.level': 'error',
      message: 'charge',
      'error.type': 'TypeError',
      'error.message': 'no card',
    },
    'ERROR 12:00:01.123 charge (TypeError: no card)',
  ],
  ['Google', { severity: 'CRITICAL', message: 'disk', timestamp: iso }, 'FATAL 12:00:01.123 disk'],
  [
    'Nest',
    { level: 'log', pid: 1, timestamp: time, message: 'started', context: 'App' },
    'LOG 12:00:01.123 started',
  ],
  [
    'an error as text',
    { level: 'error', msg: 'charge', error: 'no card', ts: time / 1000 },
    'ERROR 12:00:01.123 charge (no card)',
  ],
];

for (const [name, fields, text] of cases)
  test(name, () => assert.equal(readableLine(JSON.stringify(fields)), text));

test('what is no log line stays as it is', () => {
  const lines = [
    '{"ok":true}',
    '{"level":"gold","message":"member"}',
    '{"level":7,"message":"of a game"}',
    '{"level":"error"}',
    '[{"level":"error","msg":"x"}]',
    '{"level":"error","msg":"cut',
    'plain words',
  ];
  for (const line of lines) assert.equal(readableLine(line), line);
});

test('the telling line of a log is the last that names an error, in words', () => {
  const lines = [
    { level: 50, time, msg: 'charge failed' },
    { level: 30, time, msg: 'bye' },
  ];
  assert.equal(tellingLine(lines.map((line) => JSON.stringify(line)).join('\n')), 'ERROR charge failed');
  assert.equal(saidLines('\nagentdump: x\na\n').length, 1);
});

test('no line makes it throw', () => {
  const names = [
    'level',
    'msg',
    'message',
    'err',
    'error',
    'time',
    'log',
    'stack',
    'log.level',
    '@timestamp',
  ];
  const value = fc.oneof(fc.constantFrom('error', 50, 30), fc.jsonValue());
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), (fields) => {
      readLogLine(JSON.stringify(fields));
    }),
    { numRuns: fuzzRuns(500) },
  );
});
