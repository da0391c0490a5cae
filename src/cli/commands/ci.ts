/**
 * `agentdump ci [options] -- command …`, and `agentdump ci diff`. Parses its own options, because they delay the start of the
 * tests. ci/run.ts does the rest.
 */
import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { bundlesOf } from '../../bundle/finished/list.ts';
import type { LeakLimits } from '../../bundle/layout/tests.ts';
import { readDuration, timeLeftMs } from '../../ci/environment.ts';
import { type CiOptions, defaultLeakLimits } from '../../ci/options.ts';
import { runCi } from '../../ci/run.ts';
import { AgentdumpError } from '../../errors.ts';
import { endLike } from '../../supervise/run/exit-status.ts';
import { readOptionWords, requireOneOf, requireSize, usage } from '../options/option-words.ts';
import { note, print } from '../output/output.ts';

/** The exit code of timeout(1). */
const stoppedCode = 124;
const leakCode = 1;
const mostSendingMs = 30_000;
const notStartedCodes: Record<string, number> = { 'not-found': 127, unwritable: 126 };

export const ciHelp = `Usage: agentdump ci [options] -- test command …
       agentdump ci diff --baseline FOLDER [--report FOLDER] [--json]

Runs a test command with its own streams and exit code. If it fails, hangs or is cancelled, a report names the test and
the cause; if it passes, nothing is written.

  --report FOLDER         report folder                                           [./agentdump-report]
  --hang-after TIME       no test started or ended for this long (5m, 90s): dump every process, stop, exit code 124
  --job-limit TIME        time limit of the CI job: do the same one minute before it
                                                     [$AGENTDUMP_CI_JOB_LIMIT, or what GitLab and Buildkite set]
  --on-failure snapshot   also write a small bundle for each failed test, with the agent's conversation
  --leak-check[=P%,SIZE]  fail if the heap grew by more than both from the first to the last third   [20%,10M]
  --locals                record the variables of every frame of an exception; slows down code that throws often
  --heap WHEN             off, pressed, auto or always                                            [off]
  --baseline FOLDER       compare with the summary of an earlier run; updated when this run passes
  --max-bundles N, --max-bytes SIZE   limits of the report; the most useful bundles are kept      [20, 200M]
`;

type Reader = (options: CiOptions, value: string, name: string) => void;

const heapTiers = ['off', 'pressed', 'auto', 'always'] as const;

const valued: Record<string, Reader> = {
  report: (options, value) => {
    options.report = resolve(value);
  },
  'hang-after': (options, value, name) => {
    options.hangAfterMs = requireDuration(value, name);
  },
  'job-limit': (options, value, name) => {
    requireDuration(value, name);
    options.stopAfterMs = timeLeftMs({ AGENTDUMP_CI_JOB_LIMIT: value });
  },
  'on-failure': (options, value, name) => {
    options.onFailure = requireOneOf(value, ['none', 'snapshot'] as const, name);
  },
  heap: (options, value, name) => {
    options.heap = requireOneOf(value, heapTiers, name);
  },
  baseline: (options, value) => {
    options.baseline = resolve(value);
  },
  'max-bundles': (options, value, name) => {
    options.maxBundles = requireSize(value, name);
  },
  'max-bytes': (options, value, name) => {
    options.maxBytes = requireSize(value, name);
  },
};

/** With or without a value after `=`. */
const flags: Record<string, (options: CiOptions, value: string | undefined, name: string) => void> = {
  locals: (options) => {
    options.locals = true;
  },
  'leak-check': (options, value, name) => {
    options.leakCheck = value === undefined ? defaultLeakLimits : readLeakLimits(value, name);
  },
};

/** Throws AgentdumpError `usage` for invalid options. */
export function readWords(words: readonly string[], environment: NodeJS.ProcessEnv): CiOptions {
  const options: CiOptions = {
    command: [],
    report: resolve('agentdump-report'),
    hangAfterMs: undefined,
    stopAfterMs: timeLeftMs(environment),
    onFailure: 'none',
    leakCheck: undefined,
    locals: false,
    heap: 'off',
    baseline: undefined,
    maxBundles: 20,
    maxBytes: 200 * 1024 ** 2,
    note,
    print,
  };
  options.command = readOptionWords(
    words,
    options,
    { valued, flags, optional: new Set(['leak-check']) },
    'ci',
  );
  if (options.command.length === 0) throw usage('the test command is missing', 'command');
  return options;
}

export async function runWords(words: string[]): Promise<void> {
  if (words[0] === 'diff') return (await import('./ci-diff.ts')).runDiff(words.slice(1));
  try {
    const options = readWords(words, process.env);
    const { exit, outcome } = await runCi(options);
    if (outcome.kind !== 'passed') await sendReport(options.report);
    if (outcome.kind === 'hang' || outcome.kind === 'job-limit') process.exitCode = stoppedCode;
    else if (outcome.kind === 'leak') process.exitCode = leakCode;
    else endLike(exit);
  } catch (error) {
    const code = error instanceof AgentdumpError ? notStartedCodes[error.code] : undefined;
    if (code === undefined) throw error;
    note((error as Error).message);
    process.exitCode = code;
  }
}

/** Any process that remains ends with its CI job. */
async function sendReport(report: string): Promise<void> {
  if (!process.env['AGENTDUMP_STORE']) return;
  const { backgroundSend } = await import('./store/background-send.ts');
  const sending = backgroundSend(bundlesOf(report), process.env);
  sending?.send();
  await sending?.wait(mostSendingMs);
}

function readLeakLimits(value: string, argument: string): LeakLimits {
  const limits = { ...defaultLeakLimits };
  for (const word of value.split(',')) {
    const percent = /^(\d{1,5}(?:\.\d+)?)%$/.exec(word)?.[1];
    if (percent === undefined) limits.bytes = requireSize(word, argument);
    else limits.share = Number(percent) / 100;
  }
  return limits;
}

function requireDuration(value: string, argument: string): number {
  const ms = readDuration(value);
  if (ms === undefined) throw usage(`${argument} wants a time, such as 5m or 90s, not ${value}`, argument);
  return ms;
}

/** For `agentdump --help` and its suggestions; `runWords` handles the arguments. */
const command: CommandModule = {
  command: 'ci',
  describe:
    'Run a test command; where it fails, hangs or is cancelled, a report names the test and the cause',
  handler: () => {},
};
export default command;
