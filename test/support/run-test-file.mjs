// Runs one test file in a process of its own, with Node's own runner and its TAP reporter, and says what came out.
// Knows the form of that output; what is done about a failure is for whoever asked.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For one file: a program that never ends must not hold everything. */
const longestMs = 600_000;
const mostOutputBytes = 1 << 20;
export const counted = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'];

/**
 * @param {string} file
 * @param {{cwd: string, env: NodeJS.ProcessEnv, imports: string[]}} options `imports`: modules that are loaded first.
 * @returns {Promise<{file: string, hasPassed: boolean, tap: string, counts: Record<string, number>}>} `tap`: its tests
 *   without head, plan and closing lines; what the file printed itself follows as comments.
 */
export async function runTestFile(file, { cwd, env, imports }) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-test-'));
  const report = join(folder, 'report.tap');
  const words = imports.flatMap((name) => ['--import', name]);
  words.push('--test-reporter=tap', `--test-reporter-destination=${report}`, file);
  try {
    const child = spawn(process.execPath, words, { cwd, env, stdio: 'pipe' });
    const printed = [collect(child.stdout), collect(child.stderr)];
    const timer = setTimeout(() => child.kill('SIGKILL'), longestMs);
    const [code, signal] = await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (...ended) => resolve(ended));
    });
    clearTimeout(timer);
    const end = code === 0 ? undefined : (signal ?? `exit code ${code}`);
    return { file, ...readReport(file, readText(report), end, printed.map((text) => text()).join('')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function collect(stream) {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text = (text + chunk).slice(-mostOutputBytes);
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

/** `end`: how the process ended, where that was not well. A file that did so without a failed test failed as a whole. */
export function readReport(file, report, end, printed) {
  const counts = Object.fromEntries(counted.map((name) => [name, 0]));
  const lines = [];
  for (const line of report.split('\n')) {
    const [, name, count] = /^# (\w+) ([\d.]+)$/.exec(line) ?? [];
    if (name in counts) counts[name] = Number(count);
    else if (!/^(?:TAP version \d+|1\.\.\d+|# duration_ms .*|)$/.test(line)) lines.push(line);
  }
  const hasClosed = /^# duration_ms /m.test(report);
  if (!hasClosed) countResults(lines, counts);
  if (!hasClosed || (end !== undefined && counts.fail + counts.cancelled === 0)) {
    counts.tests++;
    counts.fail++;
    lines.push(
      `not ok 1 - ${file}`,
      '  ---',
      `  error: 'the file ended with ${end ?? 'no report'}'`,
      '  ...',
    );
  }
  lines.push(
    ...printed
      .split('\n')
      .filter(Boolean)
      .map((line) => `# ${line}`),
  );
  return { hasPassed: counts.fail + counts.cancelled === 0, tap: lines.join('\n'), counts };
}

/** Those that were told before the file died. */
function countResults(lines, counts) {
  for (const line of lines) {
    if (!/^(?:not )?ok \d/.test(line)) continue;
    counts.tests++;
    counts[line.startsWith('not') ? 'fail' : 'pass']++;
  }
}
