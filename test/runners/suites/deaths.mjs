// The ways in which a test dies here, told by AGENTDUMP_TEST_DEATH; the same for every runner.
import { appendFileSync } from 'node:fs';

const ready = () => {
  if (process.env.AGENTDUMP_TEST_READY) appendFileSync(process.env.AGENTDUMP_TEST_READY, 'ready\n');
};

export async function passes() {
  await new Promise((resolve) => setTimeout(resolve, 5));
}

export async function dies() {
  const how = process.env.AGENTDUMP_TEST_DEATH ?? 'none';
  if (how === 'assertion') throw new Error('expected 3 hotels, got 2');
  if (how === 'crash') {
    await new Promise((resolve) => {
      // Not before the throw, however long this process has to wait for its turn.
      setImmediate(() => setTimeout(resolve, 300));
      setImmediate(() => {
        throw new TypeError('the socket is gone');
      });
    });
  }
  if (how === 'rejection') {
    Promise.reject(new RangeError('nobody waits for this'));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  if (how === 'oom') {
    const kept = [];
    for (;;) kept.push(new Array(1_000).fill(kept.length));
  }
  if (how === 'spin') {
    ready();
    for (;;) Math.random();
  }
  if (how === 'hang') {
    ready();
    const timer = setInterval(() => {}, 1_000);
    await new Promise(() => {});
    clearInterval(timer);
  }
}
