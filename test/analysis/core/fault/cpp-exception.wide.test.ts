/** C++ exceptions that an addon throws and nothing catches: type and message are read from the core. Needs a C++ compiler. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { writeMiniCore } from '../../../../src/analysis/core/mini/mini-core.ts';
import { makeCore, noCores, victims } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

const noCompiler = spawnSync('g++', ['--version']).status === 0 ? false : 'no g++ is here';
const titles = [
  'Uncaught C++ exception std::runtime_error: no such file: tides.csv',
  'Uncaught C++ exception app::ParseError: unexpected end of the input',
  'Uncaught C++ exception app::Bare',
  'Uncaught C++ exception int',
  'Uncaught C++ exception std::bad_alloc',
  'The C++ runtime ended the program (std::terminate)',
  'Uncaught C++ exception std::out_of_range: index 9 of 3',
  'Uncaught C++ exception std::runtime_error: out of a noexcept function',
  'A pure virtual method was called: an object was used before or after its life',
  // The runtime library throws it for the addon, through a table of links on a page that is mapped twice.
  'Uncaught C++ exception std::out_of_range: basic_string::at: __n (which is 9) >= this->size() (which…',
];

suite('a C++ exception that nobody catches', { skip: noCores || noCompiler }, () => {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-thrower-'));
  const addon = join(root, 'thrower.node');
  before(() => {
    const words = ['-O1', '-s', '-fPIC', '-shared', '-o', addon, join(victims, 'addon', 'thrower.cc')];
    const built = spawnSync('g++', words, { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
  });
  after(() => rmSync(root, { recursive: true }));

  for (const node of nodesInTurn)
    test(`Node ${node.major}: each of its type, with the message of what has one`, async () => {
      for (const [kind, title] of titles.entries()) {
        const death = makeCore(node.path, ['-e', `require(${JSON.stringify(addon)})(${kind})`]);
        try {
          const mini = join(dirname(death.core), 'mini.gz');
          const { account } = await writeMiniCore(death.core, mini);
          assert.equal(account.verdict?.title, title);
          assert.equal(account.verdict?.kind, 'abort');
          assert.deepEqual(
            account.gaps.filter(({ reason }) => /return address/.test(reason)),
            [],
          );
          // What the program itself printed.
          const type = /after throwing an instance of '(.*)'/.exec(death.stderr)?.[1];
          assert.ok(
            type === undefined ? /terminate|pure virtual/.test(title) : title.includes(` ${type}`),
            type,
          );
          assert.deepEqual((await accountForCore(mini)).verdict, account.verdict);
        } finally {
          death.remove();
        }
      }
    });
});
