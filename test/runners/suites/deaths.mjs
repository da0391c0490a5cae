// The ways in which a test dies here, told by AGENTDUMP_TEST_DEATH; the same for every runner.
import { appendFileSync } from 'node:fs';

const ready = () => {
  if (process.env.AGENTDUMP_TEST_READY) appendFileSync(process.env.AGENTDUMP_TEST_READY, 'ready\n');
};

/** What one test leaves behind strikes while the next one runs; that one waits for it. */
const late = {
  'late throw': () =>
    setTimeout(() => {
      throw new TypeError('the socket is gone');
    }, 300),
  'late rejection': () => void failLater(),
  'late exit': () => setTimeout(() => process.exit(3), 300),
};

async function failLater() {
  await new Promise((resolve) => setTimeout(resolve, 300));
  await null;
  throw new RangeError('nobody waits for this');
}

const how = () => process.env.AGENTDUMP_TEST_DEATH ?? 'none';

export async function passes() {
  late[how()]?.();
  await new Promise((resolve) => setTimeout(resolve, 5));
}

export async function dies() {
  if (late[how()]) await new Promise((resolve) => setTimeout(resolve, 2_000));
  if (how() === 'assertion') throw new Error('expected 3 hotels, got 2');
  if (how() === 'crash') {
    await new Promise((resolve) => {
      // Not before the throw, however long this process has to wait for its turn.
      setImmediate(() => setTimeout(resolve, 300));
      setImmediate(() => {
        throw new TypeError('the socket is gone');
      });
    });
  }
  if (how() === 'rejection') {
    Promise.reject(new RangeError('nobody waits for this'));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  if (how() === 'oom') {
    const kept = [];
    for (;;) kept.push(new Array(1_000).fill(kept.length));
  }
  if (how() === 'spin') {
    ready();
    for (;;) Math.random();
  }
  if (how() === 'hang') {
    ready();
    const timer = setInterval(() => {}, 1_000);
    await new Promise(() => {});
    clearInterval(timer);
  }
}
