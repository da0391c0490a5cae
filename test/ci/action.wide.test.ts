/** `action.yml`, its first step run as GitHub's runner does: its script in bash, with the documented environment. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CiSummary } from '../../src/model/ci-summary.ts';
import { canRun, suitesFolder } from '../support/runners/runner-matrix.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

interface Action {
  branding: { color: string };
  inputs: Record<string, { default?: string; description: string }>;
  outputs: Record<string, { default?: string; description: string }>;
  runs: {
    using: string;
    steps: {
      id?: string;
      if?: string;
      run?: string;
      shell?: string;
      uses?: string;
      env?: Record<string, string>;
    }[];
  };
}

function readAction(): Action {
  const { parse } = createRequire(join(root, 'test/runners/package.json'))('yaml') as {
    parse(text: string): Action;
  };
  return parse(readFileSync(join(root, 'action.yml'), 'utf8'));
}

/** The first step's script in a file, and the environment that GitHub's runner would set. */
function prepareStep(folder: string, inputs: Record<string, string>) {
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
  return {
    words: ['--noprofile', '--norc', '-eo', 'pipefail', script],
    options: {
      cwd: folder,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
        HOME: folder,
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: folder,
        ...Object.fromEntries(env),
        ...files,
      },
    },
  };
}

function runStep(folder: string, inputs: Record<string, string>) {
  const { words, options } = prepareStep(folder, inputs);
  return spawnSync('bash', words, { ...options, encoding: 'utf8' });
}

test('a red command leaves annotations, the job’s summary and the report', { skip: canRun() }, (context) => {
  const folder = suitesFolder(context);
  const command = 'AGENTDUMP_TEST_DEATH=crash node --test "node-test.mjs"';
  const { status, stdout, stderr } = runStep(folder, { command });
  assert.equal(status, 1, stderr);
  assert.match(stdout, /^::error file=deaths\.mjs,line=39,col=\d+,title=booking › books the cheapest::/m);
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

/** Cancels like GitHub's runner: SIGINT, SIGTERM after 7.5 s, SIGKILL after 2.5 s more, and then for what is left of the job. */
async function cancelStep(folder: string, inputs: Record<string, string>, ready: string): Promise<string[]> {
  const { words, options } = prepareStep(folder, inputs);
  const env = { ...options.env, AGENTDUMP_TEST_READY: ready };
  const step = spawn('bash', words, { ...options, env, stdio: 'ignore', detached: true });
  while (!existsSync(ready)) await setTimeout(50);
  const ended = once(step, 'exit');
  const sent: string[] = [];
  for (const [signal, patienceMs] of [
    ['SIGINT', 7_500],
    ['SIGTERM', 2_500],
    ['SIGKILL', 60_000],
  ] as const) {
    sent.push(signal);
    step.kill(signal);
    if (await Promise.race([ended, setTimeout(patienceMs, undefined, { ref: false })])) break;
  }
  // Its process group: after a SIGKILL the tests would run on, with their inspector's port open.
  try {
    process.kill(-step.pid!, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
  return sent;
}

test('a cancelled job: what runs is on disk before the runner gives up', {
  skip: canRun(),
}, async (context) => {
  const folder = suitesFolder(context);
  const command = 'AGENTDUMP_TEST_DEATH=hang node --test node-test.mjs';
  const sent = await cancelStep(folder, { command }, join(folder, 'ready'));
  assert.deepEqual(sent, ['SIGINT'], 'it ends before it is told again');
  const report = join(folder, 'agentdump-report');
  const summary = JSON.parse(readFileSync(join(report, 'summary.json'), 'utf8')) as CiSummary;
  assert.equal(summary.outcome.kind, 'cancelled');
  const bundle = summary.bundles.find(({ test }) => test?.name.at(-1) === 'books the cheapest');
  assert.equal(existsSync(join(report, 'bundles', bundle?.name ?? 'none')), true, JSON.stringify(summary));
  assert.match(readFileSync(join(folder, 'step.md'), 'utf8'), /booking › books the cheapest/);
  assert.match(readFileSync(join(folder, 'output.txt'), 'utf8'), /^report=.*\/agentdump-report$/m);
});

test('the file keeps the rules of action metadata', () => {
  const action = readAction();
  // docs.github.com/actions/reference/workflows-and-actions/metadata-syntax
  const known = ['name', 'author', 'description', 'inputs', 'outputs', 'runs', 'branding'];
  assert.deepEqual(
    Object.keys(action).filter((key) => !known.includes(key)),
    [],
  );
  for (const [name, input] of Object.entries({ ...action.inputs, ...action.outputs })) {
    assert.match(name, /^[a-zA-Z_][\w-]*$/);
    assert.equal(typeof input.description, 'string', name);
    const keys = Object.keys(input);
    assert.deepEqual(
      keys.filter((key) => !['description', 'required', 'default', 'value'].includes(key)),
      [],
    );
    assert.equal(typeof (input.default ?? ''), 'string', `${name}: a default is text`);
    assert.ok(
      name in action.inputs || keys.includes('value'),
      `${name}: a composite action's output has a value`,
    );
  }
  for (const step of action.runs.steps) {
    assert.ok((step.run === undefined) !== (step.uses === undefined), 'a step runs or uses');
    assert.ok(
      step.run === undefined || step.shell !== undefined,
      'a composite step that runs names its shell',
    );
    const stepKeys = [
      'id',
      'name',
      'if',
      'run',
      'shell',
      'working-directory',
      'env',
      'uses',
      'with',
      'continue-on-error',
    ];
    assert.deepEqual(
      Object.keys(step).filter((key) => !stepKeys.includes(key)),
      [],
    );
  }
  const text = readFileSync(join(root, 'action.yml'), 'utf8');
  for (const [, name = ''] of text.matchAll(/inputs\.([\w-]+)/g)) assert.ok(name in action.inputs, name);
  for (const [, id] of text.matchAll(/steps\.([\w-]+)\./g))
    assert.ok(
      action.runs.steps.some((step) => step.id === id),
      id,
    );
  // docs.github.com lists eight colours, and the Feather icons that are not supported.
  assert.match(action.branding.color, /^(?:white|black|yellow|blue|green|orange|red|purple|gray-dark)$/);
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
