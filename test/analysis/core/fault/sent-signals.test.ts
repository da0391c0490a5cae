/** Cores of processes that did not fail: another process sent the signal, as people do to get a core of a hanging process. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { accountForCore } from '../../../../src/analysis/core/core-account.ts';
import type { Account } from '../../../../src/model/account.ts';
import { makeCore, noCores } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';
import { assertOfSchema } from '../../../support/system/of-schema.ts';

/** The account, and what the program printed. */
async function accountOf(node: string, program: string): Promise<{ account: Account; stdout: string }> {
  const { core, stdout, remove } = makeCore(node, ['-e', program]);
  try {
    const account = await accountForCore(core, { heap: false });
    assertOfSchema(account);
    return { account, stdout };
  } finally {
    remove();
  }
}

/** The shell prints its pid, then sends the signal to its parent. */
const fromChild = (signal: string) =>
  `function waits() { require('node:child_process').spawnSync('sh', ['-c', 'echo $$; kill -${signal} $PPID'], { stdio: 'inherit' }); } waits();`;

for (const { major, path } of nodesInTurn)
  suite(`Node ${major}`, { skip: noCores }, () => {
    for (const signal of ['ABRT', 'QUIT', 'SEGV', 'ILL'])
      test(`kill -${signal} from another process`, async () => {
        const { account, stdout } = await accountOf(path, fromChild(signal));
        const sender = Number(stdout.trim());
        assert.ok(sender > 0);
        assert.equal(account.verdict?.kind, 'terminated');
        assert.equal(account.verdict?.confidence, 'certain');
        assert.equal(
          account.verdict?.title,
          `SIG${signal}: sent by process ${sender} (user ${process.getuid?.()})`,
        );
        assert.match(account.verdict?.summary ?? '', /did not fail/);
        assert.equal(account.signal?.sentBy?.pid, sender);
        assert.equal(account.signal?.faultAddress, undefined);
        const main = account.threads?.find((thread) => thread.kind === 'main');
        assert.ok(main?.frames.some((frame) => frame.function === 'waits'));
        assert.match(account.verdict?.summary ?? '', /while it was in waits/);
      });

    test('a worker that is at work while the main thread waits is named', async () => {
      const worker = `const { parentPort } = require('node:worker_threads');
        function crunch() { parentPort.postMessage(0); for (;;); } crunch();`;
      const { account } = await accountOf(
        path,
        `const { execFile } = require('node:child_process');
        const worker = new (require('node:worker_threads').Worker)(${JSON.stringify(worker)}, { eval: true });
        worker.once('message', () => execFile('sh', ['-c', 'sleep 0.1; until [ $(cut -d" " -f3 /proc/$PPID/stat) = S ]; do sleep 0.1; done; kill -ABRT $PPID']));`,
      );
      const worked = account.threads?.find(({ kind }) => kind === 'worker');
      assert.match(account.verdict?.summary ?? '', new RegExp(`, and its worker ${worked?.id} in crunch `));
    });

    test('from itself by its pid is no abort either', async () => {
      const { account } = await accountOf(
        path,
        `process.kill(process.pid, 'SIGABRT'); setInterval(() => {}, 9)`,
      );
      assert.equal(account.verdict?.title, 'SIGABRT: sent by the program to itself');
      assert.equal(account.verdict?.kind, 'abort');
    });

    test('a fault of an older day is not taken for the cause', async () => {
      // V8's handler recovers from the out-of-bounds access; the processor's record of the fault stays with the thread.
      const wasm = [
        0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 5, 1, 1, 102, 0, 0, 10,
        10, 1, 8, 0, 65, 124, 40, 2, 0, 26, 11,
      ];
      const { account } = await accountOf(
        path,
        `const wasm = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(${JSON.stringify(wasm)})));
        let trapped;
        try { wasm.exports.f(); } catch (error) { trapped = error.message; }
        if (!/out of bounds/.test(trapped)) process.exit(1);
        ${fromChild('SEGV')}`,
      );
      assert.match(account.verdict?.title ?? '', /^SIGSEGV: sent by process \d+/);
    });
  });
