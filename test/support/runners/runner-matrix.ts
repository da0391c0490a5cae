/**
 * Runs real test runners under `agentdump ci`, with tests in which the program really dies, and checks which test the report
 * names. The suites in test/runners/suites contain the same two tests for every runner; the second one dies in the given way.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CiBundle, CiSummary, CiTest } from '../../../src/model/ci-summary.ts';
import { problemsOf } from '../../../src/report/ci/wording.ts';
import { isWideRun, sampleOf } from '../run/test-nodes.ts';
import { assertOfSchema } from '../system/of-schema.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const runnersFolder = join(root, 'test', 'runners');
/** The versions that most projects still use. */
export const olderRunners = join(runnersFolder, 'older');
const bin = join(root, 'bin', 'agentdump.js');

/** The error of one test happens while the next test runs. */
export const lateDeaths = ['late throw', 'late rejection', 'late exit'] as const;
export type LateDeath = (typeof lateDeaths)[number];
export type Death = 'assertion' | 'crash' | 'rejection' | 'hang' | 'spin' | 'cancel' | 'oom' | 'none';
export const deaths: readonly Death[] = [
  'assertion',
  'crash',
  'rejection',
  'hang',
  'spin',
  'cancel',
  'oom',
  'none',
];

const dyingTest = 'books the cheapest';
const local = (name: string): string => join('node_modules', '.bin', name);

/** The command that runs the suite in the folder of the suites. */
export const runnerCommands = {
  'node:test': ['node', '--test', 'node-test.mjs'],
  mocha: [local('mocha'), 'mocha.mjs'],
  'mocha parallel': [local('mocha'), '--parallel', 'mocha.mjs', 'other.mjs'],
  'jest workers': [local('jest'), '--testMatch=**/{jest,other}.cjs', '--config={}', '-w=2', '--ci'],
  'jest in band': [local('jest'), '--testMatch=**/jest.cjs', '--config={}', '-i', '--ci'],
  'vitest forks': [local('vitest'), 'run', '--pool', 'forks'],
  'vitest threads': [local('vitest'), 'run', '--pool', 'threads'],
  ava: [local('ava'), 'ava.mjs', '--timeout=10m'],
  playwright: [local('playwright'), 'test', '-c', 'playwright.config.mjs'],
  tap: [local('tap'), '--disable-coverage', '--allow-empty-coverage', '--timeout=600', 'tap.mjs'],
  'plain script': ['node', 'plain.mjs'],
  'npm script': ['npm', 'test', '--silent'],
  'pnpm script': [local('pnpm'), '--silent', 'test'],
  'yarn script': [local('yarn'), '--silent', 'test'],
} as const;
export type RunnerName = keyof typeof runnerCommands;

/** The accepted verdict kinds: with worker threads less is visible of how a thread died. */
const kinds: Record<Death, readonly string[]> = {
  assertion: [],
  none: [],
  crash: ['uncaught-exception', 'worker-death'],
  rejection: ['unhandled-rejection', 'worker-death', 'uncaught-exception'],
  hang: ['no-progress'],
  spin: ['event-loop-hang'],
  cancel: ['terminated'],
  oom: ['heap-out-of-memory', 'worker-death'],
};

export interface MatrixRun {
  code: number | null;
  output: string;
  /** Undefined if no report was written. */
  summary: CiSummary | undefined;
  report: string;
}

/** The reason why the runners can't run; false if they can. Throws if they are not installed. */
export function canRun(installed = runnersFolder): string | false {
  if (!isWideRun) return 'real test runners';
  if (existsSync(join(installed, 'node_modules'))) return false;
  throw new Error(`npm ci --prefix ${relative(root, installed)} was not run: npm run test:all does it`);
}

/** Copies the suites to a separate folder, so that no configuration of this project is found above them. */
export function suitesFolder(
  context: { after(cleanUp: () => void): void },
  installed = runnersFolder,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-runners-'));
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  cpSync(join(runnersFolder, 'suites'), folder, {
    recursive: true,
    // A runner that was started by hand leaves its cache there.
    filter: (path) => !path.endsWith('node_modules'),
  });
  symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', scripts: { test: 'node --test node-test.mjs' } }),
  );
  return folder;
}

export interface RunOptions {
  folder: string;
  death: Death | LateDeath;
  command: readonly string[];
  options?: readonly string[];
  env?: Record<string, string>;
  node?: string;
  /** Longer than the runner's start takes on a busy machine. */
  hangAfter?: string;
}

/** The limit for a run that never ends. On a machine with a load of 15 per core, a leak check of jest took four minutes. */
const lifeLimitMs = 450_000;

/**
 * On a busy machine a runner may be silent during its start for longer than `--hang-after` allows. If the test had not
 * reported that it is about to hang, the run was stopped too early, and is repeated with a longer limit.
 */
export async function runUnderCi(run: RunOptions): Promise<MatrixRun> {
  const { ready, report } = placesOf(run);
  let done = await runOnce({ ...run, hangAfter: run.hangAfter ?? '3s' });
  for (const hangAfter of ['20s', '60s']) {
    if (!isStopped(run) || existsSync(ready)) break;
    rmSync(report, { recursive: true, force: true });
    done = await runOnce({ ...run, hangAfter });
  }
  return done;
}

const isStopped = ({ death }: RunOptions): boolean => death === 'hang' || death === 'spin';

function placesOf({ folder, death }: RunOptions): { report: string; ready: string } {
  return { report: join(folder, `report-${death}`), ready: join(folder, `ready-${death}`) };
}

async function runOnce(run: RunOptions): Promise<MatrixRun> {
  const { folder, death, command } = run;
  const { report, ready } = placesOf(run);
  const child = spawn(
    process.execPath,
    [
      bin,
      'ci',
      '--report',
      report,
      ...(isStopped(run) && run.hangAfter !== undefined ? ['--hang-after', run.hangAfter] : []),
      ...(run.options ?? []),
      '--',
      ...command,
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: environment(run, ready) },
  );
  const timer = setTimeout(() => child.kill('SIGKILL'), lifeLimitMs);
  if (death === 'cancel') cancelWhenReady(child, ready);
  const { code, output } = await outcomeOf(child);
  clearTimeout(timer);
  const path = join(report, 'summary.json');
  const summary = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as CiSummary) : undefined;
  if (summary) assertOfSchema(summary);
  return { code, output, summary, report };
}

function environment({ death, folder, env, node }: RunOptions, ready: string): NodeJS.ProcessEnv {
  const path = process.env['PATH'] ?? '';
  return {
    PATH: node === undefined ? `${dirname(process.execPath)}:${path}` : `${dirname(node)}:${path}`,
    HOME: folder,
    NO_COLOR: '1',
    // The first option is for jest's ES modules, the second fills the heap soon. Both must be preserved beside our own.
    NODE_OPTIONS: '--experimental-vm-modules --max-old-space-size=100',
    AGENTDUMP_TEST_DEATH: death === 'cancel' ? 'hang' : death,
    AGENTDUMP_TEST_READY: ready,
    AGENTDUMP_TEST_OUTPUT: join(folder, 'output'),
    // No bundle is expected here. On a busy machine a loop may not turn for longer than the default of five seconds.
    ...(death === 'none' || death === 'assertion' ? { AGENTDUMP_HANG_MS: '600000' } : {}),
    ...env,
  };
}

function cancelWhenReady(child: ChildProcess, ready: string): void {
  const timer = setInterval(() => {
    if (!existsSync(ready)) return;
    clearInterval(timer);
    child.kill('SIGTERM');
  }, 50);
  child.once('exit', () => clearInterval(timer));
}

function outcomeOf(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** About four times what the runner needs to reach its first test. */
function hangAfter(runner: RunnerName): string {
  if (runner === 'playwright' || runner === 'tap') return '15s';
  return runner.startsWith('jest') ? '8s' : '4s';
}

/** The reason why a runner can't be tested with a death on this Node. */
function whyNot(runner: RunnerName, death: Death): string | undefined {
  const major = Number(process.versions.node.split('.')[0]);
  // Observed with vitest 4.1.12 and ava 7.0 on Node 24.21, without agentdump: they wait for the worker that is gone.
  if ((runner === 'vitest threads' || runner === 'ava') && death === 'oom' && major >= 24)
    return `${runner} itself never ends after a worker thread ran out of memory on Node ${major}`;
  return undefined;
}

/** Runners that need no package; in `npm test` they run with these deaths only. */
const alwaysThere: readonly RunnerName[] = ['node:test', 'plain script'];
const quickDeaths: readonly Death[] = ['assertion', 'crash', 'spin'];

/** One test for each death of a runner. */
export function testRunner(
  runner: RunnerName,
  only: readonly Death[] = deaths,
  installed = runnersFolder,
): void {
  const older = installed === olderRunners ? 'an older ' : '';
  const isQuick = !isWideRun && alwaysThere.includes(runner);
  for (const death of isQuick ? quickDeaths : only)
    test(`${older}${runner}: ${death}`, {
      skip: whyNot(runner, death) ?? (isQuick ? false : canRun(installed)),
    }, async (context) => {
      const folder = suitesFolder(context, installed);
      const run = await runUnderCi({
        folder,
        death,
        command: runnerCommands[runner],
        hangAfter: hangAfter(runner),
      });
      checkRun(runner, death, run);
    });
}

/**
 * Late errors under one runner: the test that started the work must be named, and never the one that was running. `unseen`:
 * deaths that the runner ignores.
 */
export function testLate(runner: RunnerName, unseen: readonly LateDeath[] = []): void {
  const skip = alwaysThere.includes(runner) ? false : canRun();
  for (const death of sampleOf(
    lateDeaths.filter((one) => !unseen.includes(one)),
    2,
  ))
    test(`${runner}: ${death}`, { skip }, async (context) => {
      const folder = suitesFolder(context);
      const run = await runUnderCi({ folder, death, command: runnerCommands[runner] });
      const told = JSON.stringify(run.summary, undefined, 1);
      const bundles = run.summary?.bundles.filter(({ kind }) => lateKinds[death].includes(kind ?? '')) ?? [];
      assert.ok(bundles.length > 0, `${told}\n${run.output}`);
      for (const bundle of bundles) {
        assert.ok([beginningTest, otherBeginningTest, undefined].includes(lastName(bundle.test)), told);
        assert.match(bundle.summary ?? '', lastName(bundle.test) === undefined ? /is not known/ : /began it/);
      }
      assert.ok(
        bundles.some(({ test }) => lastName(test) === beginningTest),
        told,
      );
      // Independent of what the runner reports.
      const [first] = run.summary ? problemsOf(run.summary) : [];
      const begun = [beginningTest, otherBeginningTest];
      assert.ok(
        begun.some((name) => first?.test?.endsWith(name)),
        `${JSON.stringify(first)}\n${told}`,
      );
    });
}

const beginningTest = 'finds hotels';
/** Starts late work too, in a separate file; on a busy machine its process is still alive when the error happens. */
const otherBeginningTest = 'knows Oslo';
const lateKinds: Record<LateDeath, readonly string[]> = {
  'late throw': ['uncaught-exception', 'worker-death'],
  'late rejection': ['unhandled-rejection', 'uncaught-exception', 'worker-death'],
  // Vitest throws an error instead of exiting.
  'late exit': ['exit', 'worker-death', 'uncaught-exception'],
};
export function checkRun(runner: RunnerName, death: Death, run: MatrixRun): void {
  const { summary, code, output, report } = run;
  // Mocha ignores a rejection that nobody handles.
  if (death === 'none' || (death === 'rejection' && runner.startsWith('mocha') && code === 0)) {
    assert.equal(code, 0, output);
    assert.equal(existsSync(report), false, 'a green run leaves nothing');
    return;
  }
  assert.ok(summary, `no summary: ${output}`);
  const told = JSON.stringify(summary, undefined, 1);
  // Mocha ignores that a worker ran out of memory. The report is written all the same, and the exit code remains mocha's.
  if (runner === 'mocha parallel' && death === 'oom') assert.equal(summary.outcome.kind, 'died', told);
  else assert.notEqual(code, 0, told);
  if (death === 'hang' || death === 'spin') assert.equal(code, 124, told);
  if (death === 'assertion' && runner !== 'plain script') checkAssertion(summary, told);
  else checkDeath(runner, death, summary, told, output);
}

function checkAssertion(summary: CiSummary, told: string): void {
  assert.deepEqual(summary.bundles, [], told);
  assert.deepEqual(summary.tests.telling.map(lastName), [dyingTest], told);
  const [failed] = summary.tests.telling;
  assert.match(failed?.error?.message ?? '', /expected 3 hotels, got 2/);
  assert.match(failed?.place?.file ?? '', /deaths\.mjs$/, told);
}

function checkDeath(
  runner: RunnerName,
  death: Death,
  summary: CiSummary,
  told: string,
  output: string,
): void {
  const expected = runner === 'plain script' && death === 'assertion' ? ['uncaught-exception'] : kinds[death];
  const fitting = summary.bundles.filter(({ kind }) => expected.includes(kind ?? ''));
  assert.ok(fitting.length > 0, `${told}\n${output}`);
  if (runner === 'plain script') return;
  const settled = summary.tests.telling.filter((one) => /^(?:is skipped|fails as)/.test(lastName(one) ?? ''));
  assert.deepEqual(settled, [], told);
  const telling = fitting.filter((bundle) => lastName(bundle.test) === dyingTest);
  assert.ok(telling.length > 0, told);
  // In older pools the worker is a file called process.js.
  if (runner === 'vitest forks') assert.match(telling[0]?.name ?? '', /Z-vitest-/);
  if (death === 'oom' || death === 'hang') checkPlace(telling[0]?.name, summary, told);
  // Otherwise it would be reported twice, with the bundle and as a separate test. The suites are in the home folder, as on
  // GitHub.
  const [dying] = summary.tests.telling.filter((one) => lastName(one) === dyingTest);
  if (dying) assert.ok(dying.bundle !== undefined, told);
}

/** There must be a stack, or else the line on which the test is defined. */
function checkPlace(bundle: string | undefined, summary: CiSummary, told: string): void {
  const line = summary.tests.telling.find((one) => one.bundle === bundle)?.place?.line;
  const place = line ?? summary.bundles.find(({ name }) => name === bundle)?.place?.line;
  assert.ok(place !== undefined, told);
}

function lastName(test: CiBundle['test'] | CiTest): string | undefined {
  return test?.name.at(-1);
}
