/**
 * An addon that ends the program is named, stripped or not, with the message that it passed to Node to print. Needs a C
 * compiler.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import { writeMiniCore } from '../../../../src/analysis/core/mini/mini-core.ts';
import { clip } from '../../../../src/model/quantities.ts';
import { makeCore, noCores, victims } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

const noCompiler = spawnSync('gcc', ['--version']).status === 0 ? false : 'no gcc is here';
const fatal = 'quitter.node ended the process';
const titles = [
  `${fatal}: pool.c:41 closed twice`,
  `${fatal}: a place that has a name of some length the pool of connections was closed twice and more`,
  `${fatal}: the pool of connections was closed`,
  `${fatal}: pool.c`,
  /^SIGABRT: .* in quitter\.node$/,
  /^SIGSEGV: read through a null pointer.* in quitter\.node$/,
  /^free\(\): double free detected in tcache \d$/,
  /^A C\+\+ assertion failed: kind < 7 \(quit at quitter\.c:\d+\)$/,
  /^\*\*\* stack smashing detected \*\*\*: terminated$/,
  /^SIGSYS: a seccomp filter does not allow the system call 110 \(getppid\)/,
  /^SIGBUS: bus error at 0x[0-9a-f]+: the mapped file index\.bin was cut short or can't be read/,
];

const crashes = [5, 9, 10];

suite('an addon ends the program', { skip: noCores || noCompiler }, () => {
  const root = mkdtempSync(join(tmpdir(), 'agentdump-quitter-'));
  const build = (folder: string, ...flags: string[]) => {
    const addon = join(root, folder, 'quitter.node');
    const source = join(victims, 'addon', 'quitter.c');
    const words = ['-O1', '-fstack-protector-all', ...flags, '-fPIC', '-shared', '-o', addon, source];
    const built = spawnSync('gcc', words, { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    return addon;
  };
  const addons: string[] = [];
  before(() => {
    spawnSync('mkdir', [join(root, 'whole'), join(root, 'stripped')]);
    addons.push(build('whole'), build('stripped', '-s'));
  });
  after(() => rmSync(root, { recursive: true }));

  for (const node of nodesInTurn)
    test(`Node ${node.major}`, async () => {
      for (const [kind, title] of titles.entries())
        for (const addon of kind === 0 || kind === 5 ? addons : addons.slice(1)) {
          const script = `function addOrder(kind) { require(${JSON.stringify(addon)})(kind); }\naddOrder(${kind})`;
          const death = makeCore(node.path, ['-e', script]);
          try {
            const mini = join(dirname(death.core), 'mini.gz');
            const { account } = await writeMiniCore(death.core, mini);
            const { verdict } = account;
            if (title instanceof RegExp) assert.match(verdict?.title ?? '', title);
            else {
              assert.equal(verdict?.title, clip(title, 100));
              // What the program itself printed.
              const said = /^FATAL ERROR: *(.*)$/m.exec(death.stderr)?.[1] ?? assert.fail(death.stderr);
              assert.ok(title.includes(said.trim()), said);
            }
            assert.equal(verdict?.kind, crashes.includes(kind) ? 'native-crash' : 'abort');
            assert.match(verdict?.summary ?? '', /addOrder/);
            assert.deepEqual((await accountForCore(mini)).verdict, verdict);
          } finally {
            death.remove();
          }
        }
    });
});
