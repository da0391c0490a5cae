/**
 * Deaths within activities of Temporal and steps of DBOS, with stand-ins for their contexts and classes: neither package is
 * installed here. The adapters were tried with @temporalio/testing 1.24 and with DBOS 5.3 on PostgreSQL.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DbosClass } from '../../../src/agent/workflows/index.ts';
import { recordDbos } from '../../../src/agent/workflows/index.ts';
import { cleanEnvironment, node, runCli } from '../../support/agents/recorded-deaths.ts';
import { preload } from '../../support/victims/run-victim.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const workflows = pathToFileURL(join(root, 'dist', 'agent', 'workflows', 'index.js')).href;

async function agentOfDeath(program: string) {
  const dir = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  try {
    writeFileSync(join(dir, 'program.mjs'), program.replace("'agentdump/workflows'", `'${workflows}'`));
    const env = cleanEnvironment(dir, { AGENTDUMP_DIR: join(dir, 'dumps'), AGENTDUMP_HEAP: 'off' });
    spawnSync(node.path, ['--require', preload, 'program.mjs'], { cwd: dir, env });
    const { stdout, stderr } = await runCli(['analyze', 'latest', '--json', '--dir', 'dumps'], dir);
    return JSON.parse(stdout || assert.fail(stderr)).agent;
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

const dies = `async () => {
  setImmediate(() => { throw new Error('the death'); });
  await new Promise((done) => setTimeout(done, 60_000));
}`;

test('a death in an activity names workflow, run, activity and attempt', async () => {
  const agent = await agentOfDeath(`import { recordActivities } from 'agentdump/workflows';
const workflowExecution = { workflowId: 'trip-17', runId: 'run-5f1c' };
const activity = { activityId: '4', activityType: 'chargeCard', attempt: 3, taskQueue: 'trips' };
const context = { info: { ...activity, workflowType: 'bookTrip', workflowExecution } };
await recordActivities(context).inbound.execute({ args: [] }, ${dies});`);
  const [run] = agent.runs;
  assert.deepEqual(agent.diedIn, { runId: 'trip-17', stepId: run.steps[0].id, from: 'context' });
  assert.equal(run.name, 'bookTrip');
  assert.deepEqual(run.config, { runId: 'run-5f1c', activityId: '4', attempt: 3, taskQueue: 'trips' });
  assert.deepEqual([run.steps[0].name, run.steps[0].attempt], ['chargeCard', 3]);
});

test('a death in a step of DBOS names workflow, step and attempt', async () => {
  const agent = await agentOfDeath(`import { recordDbos } from 'agentdump/workflows';
class DBOS {
  static workflowID; static stepID; static stepStatus;
  static registerWorkflow(work) { return (...args) => { DBOS.workflowID = 'trip-17'; return work(...args); }; }
  static registerStep(work) { return work; }
  static async runStep(work) {
    for (let currentAttempt = 1; ; currentAttempt++) {
      DBOS.stepStatus = { currentAttempt };
      try { return await work(); } catch {}
    }
  }
}
recordDbos(DBOS);
let tries = 0;
const charge = async (wait) => { if (++tries < 2) throw new Error('busy'); await wait(); };
const book = DBOS.registerWorkflow((wait) => DBOS.runStep(() => charge(wait), { name: 'chargeCard' }), { name: 'bookTrip' });
await book(${dies});`);
  const [run] = agent.runs;
  const steps = run.steps as { name: string; status: string; attempt?: number; id: string }[];
  assert.deepEqual(
    steps.map(({ name, status, attempt }) => [name, status, attempt]),
    [
      ['chargeCard', 'failed', undefined],
      ['chargeCard', 'running', 2],
    ],
  );
  assert.deepEqual(agent.diedIn, { runId: 'trip-17', stepId: steps[1]?.id, from: 'context' });
});

test('a class that is not that of DBOS is refused', () => {
  const other = { runStep: () => {} } as unknown as DbosClass;
  assert.throws(() => recordDbos(other), /DBOS has no function registerWorkflow, registerStep/);
});
