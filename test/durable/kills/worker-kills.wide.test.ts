/** Workers are killed at random instants, on files and on PostgreSQL. AGENTDUMP_KILLS sets how many kills. */
import { test } from 'node:test';
import { whyNoPostgres } from '../../support/system/postgres.ts';
import { killOnFiles, killOnPostgres } from './kill-around.ts';

test('on files: nothing is lost, stuck, or done twice unnamed', killOnFiles);

test('on PostgreSQL: nothing is lost, stuck, or done twice unnamed', { skip: whyNoPostgres() ?? false }, () =>
  killOnPostgres('worker'),
);
