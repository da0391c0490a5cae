/** `action.yml`, its first step run as GitHub's runner would: its script in bash, with the documented environment. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { canRun, suitesFolder } from '../support/runner-matrix.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

interface Action {
  inputs: Record<string, { default?: string; description: string }>;
  runs: {
    using: string;
    steps: { if?: string; run?: string; uses?: string; env?: Record<string, string> }[];
  };
}

function readAction(): Action {
  const { parse } = createRequire(join(root, 'test/runners/package.json'))('yaml') as {
    parse(text: string): Action;
  };
  return parse(readFileSync(join(root, 'action.yml'), 'utf8'));
}

function runStep(folder: string, inputs: Record<string, string>) {
  const { inputs: declared, runs } = readAction();
  const step = runs.steps[0];
  const env = Object.entries(step?.env ?? {}).map(([name, value]) => {
    const input = /\$\{\{ inputs\.([\w-]+) \}\}/.exec(value)?.[1];
    return [name, input === undefined ? root : (inputs[input] ?? declared[input]?.default ?? '')];
  });
  const files = { GITHUB_OUTPUT: join(folder, 'output.txt'), GITHUB_STEP_SUMMARY: join(folder, 'step.md') };
  for (const path of Object.values(files)) writeFileSync(path, '');
  const script = join(folder, 'step.sh');
  writeFileSync(script, step?.run ?? '');
  return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: folder,
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: folder,
      ...Object.fromEntries(env),
      ...files,
    },
  });
}

test('a red command leaves annotations, the job’s summary and the report', { skip: canRun() }, (context) => {
  const folder = suitesFolder(context);
  const command = 'AGENTDUMP_TEST_DEATH=crash node --test "node-test.mjs"';
  const { status, stdout, stderr } = runStep(folder, { command });
  assert.equal(status, 1, stderr);
  assert.match(stdout, /^::error file=deaths\.mjs,line=17,col=\d+,title=booking › books the cheapest::/m);
  assert.match(readFileSync(join(folder, 'step.md'), 'utf8'), /booking › books the cheapest/);
  assert.match(readFileSync(join(folder, 'output.txt'), 'utf8'), /^report=.*\/agentdump-report$/m);
  assert.equal(existsSync(join(folder, 'agentdump-report', 'junit.xml')), true);
});

test('a green command leaves nothing', { skip: canRun() }, (context) => {
  const folder = suitesFolder(context);
  const { status, stdout, stderr } = runStep(folder, {
    command: 'node --test node-test.mjs',
    options: '--heap off',
  });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stdout, /::error/);
  assert.equal(existsSync(join(folder, 'agentdump-report')), false);
  assert.equal(readFileSync(join(folder, 'step.md'), 'utf8'), '');
});

test('the upload runs even when the job is cancelled, and no input is pasted into a script', {
  skip: canRun(),
}, () => {
  const { runs } = readAction();
  assert.equal(runs.using, 'composite');
  assert.match(runs.steps[1]?.uses ?? '', /^actions\/upload-artifact@/);
  assert.equal(runs.steps[1]?.if, 'always()');
  for (const { run } of runs.steps) assert.doesNotMatch(run ?? '', /\$\{\{/);
});
