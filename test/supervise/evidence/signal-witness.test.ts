/** Which processes of the group got a signal, even if the witness has not run since, as on a busy machine. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { readSmallFile } from '../../../src/platform/small-file.ts';
import { SignalWitness } from '../../../src/supervise/evidence/signal-witness.ts';

/** The process id of our witness, once it is in this state. */
async function findWitness(state: 'S' | 'T' = 'S'): Promise<number> {
  for (;;) {
    for (const tid of readdirSync(`/proc/${process.pid}/task`))
      for (const pid of (readSmallFile(`/proc/self/task/${tid}/children`) ?? '').split(' '))
        if (/^\d+ \(cat\) (.)/.exec(readSmallFile(`/proc/${pid}/stat`) ?? '')?.[1] === state)
          return Number(pid);
    await pause(10);
  }
}

for (const [how, isRunning] of [
  ['runs', true],
  ['has not run since', false],
] as const)
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR2'] as const)
    test(`${name} to a witness that ${how}`, async () => {
      const witness = new SignalWitness();
      try {
        const pid = await findWitness();
        if (!isRunning) {
          process.kill(pid, 'SIGSTOP');
          await findWitness('T');
        }
        process.kill(pid, name);
        assert.equal(await witness.sawToo(name), true);
        const next = await findWitness();
        assert.notEqual(next, pid);
        assert.equal(await witness.sawToo(name), false, 'to us alone');
      } finally {
        witness.close();
      }
    });
