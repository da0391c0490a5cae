/**
 * Regular expressions among the arguments in a dead process, with their flags in the order in which JavaScript prints them.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { makeCore, noCores, nodes } from '../../../support/cores/core-victims.ts';

const program =
  'function work(a, b, c, d) { console.log([...arguments].join(" ")); process.abort(); }\n' +
  'work(/^x[/]y$/, /b/gimsuyd, /c/giv, new RegExp("d+", "s"));';

for (const node of nodes)
  suite(`Node ${node.major}`, { skip: noCores }, () => {
    test('regular expressions with their flags', async () => {
      const death = makeCore(node.path, ['-e', program]);
      try {
        const { threads } = await accountForCore(death.core, { heap: false });
        const frame = threads?.find(({ crashed }) => crashed)?.frames.find((f) => f.function === 'work');
        const values = frame?.locals?.filter(({ scope }) => scope === 'argument').map(({ value }) => value);
        assert.equal(values?.join(' '), death.stdout.trim());
      } finally {
        death.remove();
      }
    });
  });
