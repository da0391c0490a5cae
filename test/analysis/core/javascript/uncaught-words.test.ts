/** What was thrown, in cores of `--abort-on-uncaught-exception`: by the program, by V8 itself, by V8's and by Node's functions. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { makeCore, noCores } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

/** Programs, and what their last exception is. */
const thrown: [string, string][] = [
  ['throw new RangeError("no seat " + row)', '[RangeError: no seat 12]'],
  ['throw { row }', '{ row: 12 }'],
  ['throw undefined', 'undefined'],
  ['return row.order.total', "[TypeError: Cannot read properties of undefined (reading 'total')]"],
  ['return row.ship()', '[TypeError: row.ship is not a function]'],
  ['return undefined()', '[TypeError: undefined is not a function]'],
  ['return [...row]', ''],
  ['return JSON.parse("{ nope")', '[SyntaxError: '],
  ['return new Array(-row)', '[RangeError: Invalid array length]'],
  ['return 1n + row', '[TypeError: Cannot mix BigInt and other types, use explicit conversions]'],
  ['return require("node:fs").readFileSync({})', '[TypeError: The "path" argument must be of type string'],
  ['return Buffer.alloc(8).readUInt8(row)', '[RangeError: The value of "offset" is out of range.'],
];

for (const { major, path } of nodesInTurn)
  suite(`Node ${major}`, { skip: noCores }, () => {
    for (const [body, words] of thrown)
      test(body, async () => {
        const program = `function seat(row) { ${body}; } setTimeout(() => seat(12), 1);`;
        const { core, remove } = makeCore(path, ['--abort-on-uncaught-exception', '-e', program]);
        try {
          const { verdict, threads } = await accountForCore(core, { heap: false });
          assert.equal(verdict?.kind, 'uncaught-exception');
          // A title has a hundred characters.
          const told = verdict?.title.replace(/^Uncaught (?:exception$)?/, '').slice(0, 60) ?? '';
          assert.ok(told.startsWith(words.slice(0, 60)), `${told} is not ${words}`);
          const frames = threads?.find(({ crashed }) => crashed)?.frames ?? [];
          assert.ok(frames.some((frame) => frame.function === 'seat'));
        } finally {
          remove();
        }
      });
  });
