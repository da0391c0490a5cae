// Gives every child of a test an upper life: one that hangs costs minutes and is named, instead of the ten minutes after which
// the whole file is ended. Who starts a child with a time limit of its own keeps that.
import child from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/** A test that waits for it synchronously does nothing else. */
const waitedForMs = Number(process.env.AGENTDUMP_TEST_CHILD_MS) || 300_000;
/** Servers live as long as their test file. */
const besideMs = Number(process.env.AGENTDUMP_TEST_CHILD_MS) || 480_000;

function tell(words, ms) {
  const command = words.flat().join(' ').slice(0, 500);
  process.stderr.write(
    `a child of this test had not ended after ${ms / 1000} s and was killed: ${command}\n`,
  );
}

for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
  const start = child[name];
  child[name] = (...given) => {
    const last = given.at(-1);
    const hasOptions = given.length > 1 && last !== null && typeof last === 'object' && !Array.isArray(last);
    const options = hasOptions ? last : {};
    if (options.timeout) return start(...given);
    const words = (hasOptions ? given.slice(0, -1) : given).filter((word) => word !== undefined);
    const limits = { timeout: waitedForMs, killSignal: 'SIGKILL' };
    const look = ({ error }) => error?.code === 'ETIMEDOUT' && tell(words, waitedForMs);
    try {
      const result = start(...words, { ...options, ...limits });
      if (name === 'spawnSync') look(result);
      return result;
    } catch (error) {
      look({ error });
      throw error;
    }
  };
}
syncBuiltinESMExports();

const { prototype } = child.ChildProcess;
const { spawn } = prototype;
prototype.spawn = function (options) {
  const failure = spawn.call(this, options);
  const timer = setTimeout(() => {
    tell(options.args ?? [options.file], besideMs);
    this.kill('SIGKILL');
    // What it has started may keep its pipes open.
    for (const stream of [this.stdout, this.stderr]) stream?.destroy();
  }, besideMs);
  timer.unref();
  this.once('exit', () => clearTimeout(timer));
  return failure;
};
