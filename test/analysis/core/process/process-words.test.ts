/**
 * The arguments and environment of a dead process and what it was waiting for, compared with what the program itself printed.
 */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { writeMiniCore } from '../../../../src/analysis/core/mini/mini-core.ts';
import type { Account } from '../../../../src/model/account.ts';
import { makeCore, noCores, nodes, victims } from '../../../support/cores/core-victims.ts';
import { assertOfSchema } from '../../../support/system/of-schema.ts';

const program = join(victims, 'open-handles.cjs');
const secret = 'pw-7Kq2mX9vLw4RtZ8b';

function countsOf({ environment }: Account): Record<string, number> {
  return Object.fromEntries(
    (environment?.handles ?? []).map(({ kind, detail, count }) => [`${kind} ${detail}`, count]),
  );
}

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    test('handles, timers, arguments and variables: as the program has them, and redacted', async () => {
      const env = { DATABASE_PASSWORD: secret, PLAIN: 'a b=c' };
      const death = makeCore(node.path, [program, `--password=${secret}`], { env });
      try {
        const mini = join(dirname(death.core), 'mini.gz');
        const { account } = await writeMiniCore(death.core, mini);
        assertOfSchema(account);
        const truth = JSON.parse(death.stdout);
        assert.deepEqual(account.process?.argv?.slice(0, 2), [node.path, program]);
        assert.match(account.process?.argv?.[2] ?? '', /^--password=\[redacted:/);
        const variables = account.environment?.variables ?? {};
        assert.deepEqual(variables['PLAIN'], { value: 'a b=c' });
        assert.ok('withheld' in (variables['DATABASE_PASSWORD'] ?? {}));
        assert.ok(!JSON.stringify(account.environment).includes(secret));
        const counts = countsOf(account);
        const lines = Object.keys(counts);
        const timer = lines.find((line) =>
          /^setInterval beat \(.*open-handles\.cjs.*\), every 1000 ms$/.test(line),
        );
        assert.equal(counts[timer ?? ''], 2, lines.join('\n'));
        assert.ok(!lines.some((line) => /after 100 ms$/.test(line)), 'the one that is being called');
        assert.equal(lines.filter((line) => /^setTimeout later .* after 60000 ms$/.test(line)).length, 1);
        assert.ok(!lines.some((line) => /cleared|soon/.test(line)), lines.join('\n'));
        assert.equal(counts[`TCP server fd ${truth.server}`], 1, lines.join('\n'));
        const tcp = account.environment?.handles?.find(({ kind }) => kind === 'TCP');
        assert.equal(tcp?.count, 2);
        assert.match(tcp?.detail ?? '', new RegExp(`\\bfd ${truth.client}\\b`));
        assert.equal(counts[`child process pid ${truth.child}`], 1);
        assert.equal(counts['file watcher undefined'], 1);
        assert.equal(counts['signal number 12 (not keeping it alive)'], 1);
        const udp = account.environment?.handles?.find(({ kind }) => kind === 'UDP');
        assert.match(udp?.detail ?? '', /^fd \d+ \(not keeping it alive\)$/);
        assert.deepEqual(await accountForCore(mini), account);
      } finally {
        death.remove();
      }
    });

    test('arguments that a title was written over are not made up', async () => {
      const death = makeCore(node.path, [program, 'x', 'worker']);
      try {
        const { process: facts, gaps } = await accountForCore(death.core, { heap: false });
        assert.equal(JSON.parse(death.stdout).title, 'worker');
        assert.deepEqual(facts?.argv, ['worker']);
        assert.ok(gaps.some(({ reason }) => reason === 'its arguments were overwritten by process.title'));
      } finally {
        death.remove();
      }
    });
  });
