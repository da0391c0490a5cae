/** A process with workers has a heap for each: one graph is of one of them, the main thread's if none is named. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type CoreGraph, readCoreGraph } from '../../../../src/analysis/core/graph/core-graph.ts';
import { chooseIsolate, describeOthers } from '../../../../src/analysis/core/graph/isolates.ts';
import { nodeTypes } from '../../../../src/formats/v8/graph/object-kinds.ts';
import { type Death, makeCore, noCores } from '../../../support/cores/core-victims.ts';
import { nodesInTurn } from '../../../support/run/test-nodes.ts';

const code = `
  const { Worker } = require('node:worker_threads');
  class OfMain { constructor(id) { this.id = id; } }
  globalThis.kept = Array.from({ length: 50 }, (_, id) => new OfMain(id));
  const text = \`class OfWorker { constructor(id) { this.id = id; } }
    globalThis.kept = Array.from({ length: 5000 }, (_, id) => new OfWorker(id));
    setInterval(() => {}, 1e8); require('node:worker_threads').parentPort.postMessage(0);\`;
  const workers = [0, 1].map(() => new Worker(text, { eval: true }));
  Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))))
    .then(() => setTimeout(() => process.kill(process.pid, 'SIGABRT'), 300));`;

const object = nodeTypes.indexOf('object');

/** Objects of a class, which may include its prototype. */
function countOf({ graph }: CoreGraph, wanted: string): number {
  let found = 0;
  for (const { count, names, types } of graph.nodes())
    for (let i = 0; i < count; i++)
      if (types[i] === object && graph.names.text(names[i]!) === wanted) found++;
  return found;
}

const gapOf = ({ gaps }: CoreGraph) =>
  gaps.map(({ reason }) => reason).find((each) => each.includes('left out'));

for (const node of nodesInTurn)
  suite(`the heaps of a process with workers, Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    before(() => {
      death = makeCore(node.path, ['-e', code]);
    });
    after(() => death?.remove());

    test('the main thread’s without a name, and each worker’s by the id of its thread', () => {
      const main = readCoreGraph(death.core);
      const ofMain = countOf(main, 'OfMain');
      assert.ok(ofMain >= 50 && ofMain <= 51, `${ofMain}`);
      assert.ok(countOf(main, 'OfWorker') === 0);
      const gap = gapOf(main) ?? '';
      main.close();
      const threads = [...gap.matchAll(/thread (\d+) \([\d.]+ [KM]iB\)/g)].map(([, id]) => Number(id));
      assert.equal(new Set(threads).size, 2, gap);
      for (const thread of threads) {
        const worker = readCoreGraph(death.core, { thread });
        const ofWorker = countOf(worker, 'OfWorker');
        assert.ok(ofWorker >= 5000 && ofWorker <= 5001, `${ofWorker}`);
        assert.equal(countOf(worker, 'OfMain'), 0);
        worker.close();
      }
      assert.throws(() => readCoreGraph(death.core, { thread: 1 }), {
        code: 'not-found',
        message: /thread 1 has no heap of its own: there are those of thread/,
      });
    });
  });

test('the largest heap if none is on the main thread’s stack; nothing is left out where there is one', () => {
  const [large, small] = [
    { heap: 1, bytes: 2 ** 21 },
    { heap: 2, bytes: 2 ** 20, thread: 7 },
  ];
  assert.equal(chooseIsolate([large, small], 5, undefined), large);
  assert.equal(chooseIsolate([large, small], 7, undefined), small);
  assert.equal(chooseIsolate([large], 5, 5), large);
  assert.equal(describeOthers([large], large), undefined);
  assert.match(describeOthers([large, small], small)!, /^the heap of another thread is left out: an unknown/);
  assert.match(describeOthers([large, small, large], small)!, /^2 heaps of other threads are left out/);
});
