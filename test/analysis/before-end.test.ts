/** What failed before the end: what is told, and what is no work of the program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFailedConnections } from '../../src/analysis/before-end/failed-connections.ts';
import type { Account } from '../../src/model/account.ts';

const connectionsOf = (by: string | undefined, execArgv: string[]): string[] => {
  const connection = { what: 'connection to /tmp/7.pipe', message: 'connect ENOENT', times: 2 };
  const account = {
    bundle: { capturedAt: '2026-11-29T20:00:01.000Z', parts: [] },
    process: { execArgv },
    happenings: {
      connections: [
        { ...connection, lastBegunAt: '2026-11-29T20:00:00.000Z', ...(by !== undefined && { by }) },
      ],
    },
    gaps: [],
  };
  return findFailedConnections(account as unknown as Account).map(({ fact }) => fact);
};

test('a connection that a preloaded loader tried is no failure of the program', () => {
  for (const execArgv of [
    ['--import', 'tsx'],
    ['--import=tsx/esm'],
    [
      '--require',
      '/app/node_modules/tsx/dist/preflight.cjs',
      '--import',
      'file:///app/node_modules/tsx/dist/loader.mjs',
    ],
  ])
    assert.deepEqual(connectionsOf('tsx', execArgv), [], String(execArgv));
  for (const [by, execArgv] of [
    ['tsx', []],
    [undefined, ['--import', 'tsx']],
    ['ioredis', ['--import', 'tsx', '--import', './setup.mjs']],
    ['app', ['--import', './app.mjs']],
  ] as const)
    assert.equal(connectionsOf(by, [...execArgv]).length, 1, `${by} ${execArgv}`);
  assert.deepEqual(connectionsOf('@org/loader', ['--loader', '@org/loader/esm.mjs']), []);
});
