/** Functions of a core have the names that V8 gives them in its own stack traces, in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { makeCore, noCores } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

/** Calls through each kind of method; the innermost prints V8's stack and aborts. */
const program = `
  Error.stackTraceLimit = 100;
  const end = () => { console.log(new Error('truth').stack); process.abort(); };
  class Money { #raw() { return end(); } get value() { return this.#raw(); } toJSON() { return this.value; } }
  class Bank extends Money { static open() { return new this().toJSON(); } }
  function plain() {}
  plain.handle = function handle() { return Bank.open(); };
  function Legacy() {}
  Legacy.prototype.pay = function () { return plain.handle(); };
  Object.defineProperty(Legacy.prototype, 'lent', { value: [function () { return new Legacy().pay(); }][0] });
  class Loan extends Legacy { constructor() { super(); this.kept = { loans() { return new Legacy().lent(); } }.loans(); } }
  const loan = { ['take' + 1]() { return Reflect.construct(Loan, []); } };
  function processAll() { return [3].map(() => eval('new Function("loan", "return loan.take1()")(loan)')); }
  process.processAll = processAll;
  process.nextTick(function tick() { process.processAll(); });
`;

for (const { major, path } of nodesInTurn)
  test(`Node ${major}`, { skip: noCores }, async () => {
    const { core, stdout, remove } = makeCore(path, ['-e', program]);
    try {
      const wanted = [...stdout.matchAll(/^ {4}at (?!async )(?:(.*?) \(|.+)/gm)].map(([, name = '']) =>
        name.replace(/ \[as .*\]$/, ''),
      );
      const { threads, gaps } = await accountForCore(core, { heap: false });
      const frames = threads?.find(({ crashed }) => crashed)?.frames.filter(({ tier }) => tier) ?? [];
      assert.ok(wanted.length > 12);
      assert.deepEqual(
        frames.map((frame) => frame.function ?? '').slice(0, wanted.length),
        wanted.map((name) => name.replace(/^<anonymous>$/, '')),
      );
      assert.deepEqual(gaps, []);
    } finally {
      remove();
    }
  });
