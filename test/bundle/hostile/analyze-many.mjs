// Runs `agentdump analyze` on each path given on stdin, one after the other in this process, as text and as JSON, and
// prints one JSON line a run: { path, form, exit, out, err, cpuMs, rssMb }. The child process of hostile-cli.test.ts.
import { readFileSync, writeSync } from 'node:fs';
import { runFromShell } from '../../../dist/cli/bundled/cli-main.js';

// Each run adds its own listener for closed pipes: a shell has one run a process.
process.stdout.setMaxListeners(0);

const writeOut = process.stdout.write;
const writeErr = process.stderr.write;

async function run(path, form) {
  const taken = { out: '', err: '' };
  process.stdout.write = (text) => {
    taken.out += text;
    return true;
  };
  process.stderr.write = (text) => {
    taken.err += text;
    return true;
  };
  process.exitCode = 0;
  const start = process.cpuUsage();
  await runFromShell(['analyze', ...(form === 'json' ? ['--json'] : []), path]);
  process.stdout.write = writeOut;
  process.stderr.write = writeErr;
  const rssMb = process.resourceUsage().maxRSS / 1024;
  const { user, system } = process.cpuUsage(start);
  return { path, form, exit: process.exitCode, ...taken, cpuMs: (user + system) / 1000, rssMb };
}

for (const path of readFileSync(0, 'utf8').trim().split('\n'))
  for (const form of ['text', 'json']) {
    writeSync(1, `${JSON.stringify({ started: path })}\n`);
    const line = `${JSON.stringify(await run(path, form))}\n`;
    for (let at = 0; at < line.length; at += 30_000) {
      let done = false;
      while (!done) {
        try {
          writeSync(1, line.slice(at, at + 30_000));
          done = true;
        } catch (error) {
          if (error.code !== 'EAGAIN') throw error;
        }
      }
    }
  }
process.exitCode = 0;
