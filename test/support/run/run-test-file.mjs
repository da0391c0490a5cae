// Runs one test file in a process of its own, with Node's own runner and its TAP reporter, and says what came out.
// Knows the form of that output; what is done about a failure is for whoever asked.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeSecondsOfEnded } from './machine-load.mjs';
import { end, mark } from './tell-failures.mjs';

/** For one file: a program that never ends must not hold everything. */
const longestMs = 600_000;
/** Node may wait for ever in a process' end (nodejs/node 54918): for one whose report is whole. */
const longestEndMs = 60_000;
/** What a test left running may keep the pipes of a process that has ended. */
const longestPipesMs = 20_000;
const mostOutputBytes = 1 << 20;
const mostReasonChars = 4_000;
const reporter = join(dirname(fileURLToPath(import.meta.url)), 'tell-failures.mjs');
export const counted = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'];

/**
 * @param {string} file
 * @param {{cwd: string, env: NodeJS.ProcessEnv, imports: string[], startedAs?: (file: string) => string,
 *   named?: (text: string) => string, onFailure?: (text: string) => void, endMs?: number, pipesMs?: number}} options
 *   `imports`: modules that are loaded first. `startedAs`: the file that Node is given. `named`: names in a text the file in
 *   its place. `onFailure`: is called when a test fails, with its name, place and reason.
 * @returns {Promise<{file: string, hasPassed: boolean, tap: string, counts: Record<string, number>, skipped: string[],
 *   seconds: number, processorSeconds: number, wasTooLong: boolean, hungAtEnd: boolean}>} `tap`: its tests without head, plan and closing lines; what
 *   the file printed itself follows as comments. `skipped`: the reason of each test that was skipped. `hungAtEnd`: its report
 *   was whole, but the process did not end by itself.
 */
export async function runTestFile(file, options) {
  const { cwd, env, imports, onFailure = () => {} } = options;
  const { endMs = longestEndMs, pipesMs = longestPipesMs } = options;
  const { startedAs = (path) => path, named = (text) => text } = options;
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  const report = join(folder, 'report.tap');
  const words = imports.flatMap((name) => ['--import', name]);
  words.push('--test-reporter=tap', `--test-reporter-destination=${report}`);
  words.push(`--test-reporter=${reporter}`, '--test-reporter-destination=stdout', startedAs(file));
  const start = performance.now();
  try {
    const child = spawn(process.execPath, words, { cwd, env, stdio: 'pipe' });
    const told = takeFailures((failure) => onFailure(named(describeFailure(file, failure))));
    const printed = [collect(child.stdout, told), collect(child.stderr)];
    let wasTooLong = false;
    const timer = setTimeout(() => {
      wasTooLong = true;
      child.kill('SIGKILL');
    }, longestMs);
    let hungAtEnd = false;
    let isWholeSince;
    const look = setInterval(() => {
      if (!hasClosed(readText(report))) return;
      isWholeSince ??= performance.now();
      if (performance.now() - isWholeSince >= endMs) hungAtEnd = child.kill('SIGKILL');
    }, endMs / 4);
    let processorSeconds = 0;
    child.once('exit', () => {
      processorSeconds = takeSecondsOfEnded();
      clearInterval(look);
      setTimeout(() => {
        for (const stream of [child.stdout, child.stderr]) stream.destroy();
      }, pipesMs).unref();
    });
    const [code, signal] = await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (...ended) => resolve(ended));
    });
    clearTimeout(timer);
    const ended = code === 0 || hungAtEnd ? undefined : (signal ?? `exit code ${code}`);
    const text = named(printed.map((of) => of()).join(''));
    const seconds = (performance.now() - start) / 1000;
    const result = readReport(file, named(readText(report)), ended, text);
    if (result.isWhole === false)
      onFailure(
        `FAILED ${file}: the file ended with ${ended ?? 'no report'}\n${text.slice(-mostReasonChars)}`,
      );
    return { file, seconds, processorSeconds, wasTooLong, hungAtEnd, ...result };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function describeFailure(file, { name, place, reason }) {
  const where = place === undefined ? file : place;
  return `FAILED ${name}\n  at ${where}\n${reason.slice(0, mostReasonChars).replace(/^/gm, '  ')}`;
}

/** Takes the blocks of tell-failures.mjs out of a stream's text, and gives what is left. */
function takeFailures(tell) {
  let held = '';
  return (chunk) => {
    held += chunk;
    let rest = '';
    for (;;) {
      const start = held.indexOf(mark);
      if (start < 0) {
        // The beginning of a mark may stand at the end.
        const keep = held.lastIndexOf(mark[0]);
        const cut = keep >= 0 && held.length - keep < mark.length ? keep : held.length;
        rest += held.slice(0, cut);
        held = held.slice(cut);
        return rest;
      }
      rest += held.slice(0, start);
      held = held.slice(start);
      const stop = held.indexOf(end);
      if (stop < 0) return rest;
      tell(JSON.parse(held.slice(mark.length, stop)));
      held = held.slice(stop + end.length);
    }
  };
}

function collect(stream, take = (chunk) => chunk) {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text = (text + take(chunk)).slice(-mostOutputBytes);
  });
  return () => text;
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * `end`: how the process ended, where that was not well. A file that did so without a failed test failed as a whole, and
 * `isWhole` is false.
 */
export function readReport(file, report, end, printed) {
  const counts = Object.fromEntries(counted.map((name) => [name, 0]));
  const lines = [];
  for (const line of report.split('\n')) {
    const [, name, count] = /^# (\w+) ([\d.]+)$/.exec(line) ?? [];
    if (name in counts) counts[name] = Number(count);
    else if (!/^(?:TAP version \d+|1\.\.\d+|# duration_ms .*|)$/.test(line)) lines.push(line);
  }
  const isClosed = hasClosed(report);
  if (!isClosed) countResults(lines, counts);
  const isWhole = isClosed && (end === undefined || counts.fail + counts.cancelled > 0);
  if (!isWhole) {
    counts.tests++;
    counts.fail++;
    lines.push(
      `not ok 1 - ${file}`,
      '  ---',
      `  error: 'the file ended with ${end ?? 'no report'}'`,
      '  ...',
    );
  }
  const skipped = lines.flatMap((line) => /^ *ok \d+ - .* # SKIP(?: (.*))?$/.exec(line)?.slice(1, 2) ?? []);
  lines.push(
    ...printed
      .split('\n')
      .filter(Boolean)
      .map((line) => `# ${line}`),
  );
  const hasPassed = counts.fail + counts.cancelled === 0;
  return {
    hasPassed,
    isWhole,
    tap: lines.join('\n'),
    counts,
    skipped: skipped.map((why) => why ?? 'no reason'),
  };
}

/** Its last line, which the runner writes when nothing is left but the end of the process. */
function hasClosed(report) {
  return /^# duration_ms /m.test(report);
}

/** Those that were told before the file died. */
function countResults(lines, counts) {
  for (const line of lines) {
    if (!/^(?:not )?ok \d/.test(line)) continue;
    counts.tests++;
    counts[line.startsWith('not') ? 'fail' : 'pass']++;
  }
}
