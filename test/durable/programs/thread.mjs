// A durable run in a worker thread, which never ends by itself. workerData: the dump folder.
import { parentPort, workerData } from 'node:worker_threads';
import { agent } from '../../../dist/index.js';

await agent.run('thread', { id: 'r', durable: true, dir: workerData, notify() {} }, async () => {
  await agent.step('one', () => 1);
  await agent.step('two', () => {
    parentPort.postMessage('at work');
    return new Promise(() => setInterval(() => {}, 1000));
  });
});
