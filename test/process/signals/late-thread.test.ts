/**
 * The watchdog's thread reads a signal only after the program has begun to listen for it. One that came before the listener
 * kills, as without us; one that came after it is the listener's, and is delivered once.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { isWideRun, nodesInTurn } from '../../support/run/test-nodes.ts';
import { bundlesIn, untilHeard } from '../../support/victims/run-victim.ts';
import { startProgram } from './start-program.ts';

/** Defines `holdUp`, which stops the watchdog's thread through the inspector, in its own code, and `goOn`. */
const helpers = `
const { existsSync, writeFileSync, readFileSync, writeSync } = require('node:fs');
const { execSync, spawn } = require('node:child_process');
const [stopped, go] = ['stopped', 'go'].map((name) => require('node:path').join(__dirname, name));
const stop = "const { existsSync, writeFileSync } = process.getBuiltinModule('node:fs');" +
  "writeFileSync(" + JSON.stringify(stopped) + ", '');" +
  "while (!existsSync(" + JSON.stringify(go) + "));";
const holdUp = (then) => {
  const session = new (require('node:inspector').Session)();
  session.connect();
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => {
    const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: stop } });
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    setImmediate(() => {
      while (!existsSync(stopped));
      then();
    });
  });
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
};
const goOn = () => writeFileSync(go, '');
const send = (signal) => execSync('kill -' + signal + ' ' + process.pid);
let got = 0;
const listen = (signal) => process.on(signal, () => { got++; });
process.stdin.on('data', () => { holdUp(act); }).on('end', () => {});
setInterval(() => {}, 1000);
`;

/** Ends the program a moment after it got this number of signals, or else when it certainly gets no more. */
const tellAfter = (signals: number): string => `
const end = () => { console.log('got', got); process.exit(0); };
setTimeout(end, 30_000);
const look = setInterval(() => {
  if (got < ${signals}) return;
  clearInterval(look);
  setTimeout(end, 1500);
}, 20);`;

async function endOf(
  t: TestContext,
  node: string,
  act: string,
  signals = 100,
): Promise<{ end: string; dir: string }> {
  const { child, dir, end } = startProgram(
    t,
    node,
    `${helpers} const act = () => { ${act} ${tellAfter(signals)} };`,
  );
  await untilHeard(child.pid, 'SIGTERM');
  child.stdin?.write('now');
  return { end: await end, dir };
}

for (const { name, path: node } of nodesInTurn)
  describe(name, () => {
    test('one that came before the listener kills, and leaves its bundle', async (t) => {
      const { end, dir } = await endOf(t, node, `send('TERM'); listen('SIGTERM'); goOn();`);
      assert.equal(end, 'SIGTERM');
      assert.match(bundlesIn(dir).join(), /-terminated-/);
    });

    test('one that came before the exit kills, though the thread reads it later', async (t) => {
      const act = `send('TERM'); spawn('touch', [go], { stdio: 'ignore' }); process.exit(3);`;
      assert.equal((await endOf(t, node, act)).end, 'SIGTERM');
    });

    test('one that came after it is delivered once', async (t) => {
      const { end } = await endOf(t, node, `listen('SIGTERM'); send('TERM'); goOn();`, 1);
      assert.equal(end, '0 got 1');
    });

    test('one before it and one after it: the first has killed', async (t) => {
      const { end } = await endOf(t, node, `send('TERM'); listen('SIGTERM'); send('TERM'); goOn();`);
      assert.equal(end, 'SIGTERM');
    });

    test('several of one kind that the program receives are not more', async (t) => {
      const act = `listen('SIGTERM'); for (let at = 0; at < 5; at++) send('TERM'); goOn();`;
      assert.equal((await endOf(t, node, act, 5)).end, '0 got 5');
    });

    test("one that Node has dropped with its listener is the next one's, and kills nobody", async (t) => {
      const act = `listen('SIGTERM'); send('TERM'); process.removeAllListeners('SIGTERM'); listen('SIGTERM'); goOn();`;
      assert.equal((await endOf(t, node, act, 1)).end, '0 got 1');
    });

    test('one that the program has handled, and listens for no longer, does not kill', async (t) => {
      const act = `process.once('SIGTERM', () => { got++; goOn(); }); send('TERM');`;
      assert.equal((await endOf(t, node, act, 1)).end, '0 got 1');
    });

    test('through an emit of the program it can be lost or received: the listener gets it once', async (t) => {
      const act = `const { emit } = process; process.emit = function (...args) { return emit.apply(this, args); };`;
      const early = await endOf(t, node, `${act} send('TERM'); listen('SIGTERM'); goOn();`, 1);
      assert.equal(early.end, '0 got 1');
      const late = await endOf(t, node, `${act} listen('SIGTERM'); send('TERM'); goOn();`, 1);
      assert.equal(late.end, '0 got 1');
    });

    test('an emit of the program that keeps a signal is not killed, and does not get it again and again', async (t) => {
      const act = `const { emit } = process; process.emit = function (name, ...args) {
        return name === 'SIGTERM' ? Boolean(++got) : emit.call(this, name, ...args); };`;
      const { end } = await endOf(
        t,
        node,
        `${act} process.on('SIGTERM', () => {}); send('TERM'); goOn();`,
        2,
      );
      assert.equal(end, '0 got 2');
    });

    test('a listener of its own receives each signal once, whenever it comes', async (t) => {
      const rounds = isWideRun ? 12 : 3;
      const endAfter = async (afterMs: number): Promise<string> => {
        const { child, end } = startProgram(
          t,
          node,
          `let got = 0; process.on('SIGTERM', () => { got++; }); console.log('on'); setTimeout(() => { console.log('got', got); process.exit(0); }, 4500);`,
        );
        await once(child.stdout!, 'data');
        setTimeout(() => child.kill('SIGTERM'), afterMs);
        return end;
      };
      const ends = await Promise.all(
        Array.from({ length: rounds }, (_, at) => endAfter((at * 1200) / rounds)),
      );
      assert.deepEqual([...new Set(ends)], ['0 on\ngot 1']);
    });
  });
