/**
 * Ctrl-C on a terminal while `heap` reads or computes: the line of the progress bar is erased, and the process ends as killed
 * by the signal.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const commands = fileURLToPath(new URL('../../src/cli/commands/heap/', import.meta.url));
const hasTerminal = spawnSync('script', ['--version']).status === 0;

const program = (work: string): string => `
  import { installInterrupt, runInterruptibly } from '${commands}interrupt.ts';
  import { ProgressBar } from '${commands}progress.ts';
  const bar = new ProgressBar(process.stderr);
  installInterrupt(bar);
  while (!(await bar.reading(1, 4), bar.isShown)) await new Promise((resolve) => setTimeout(resolve, 50));
  ${work}
`;

/**
 * Runs it on a terminal of its own and sends Ctrl-C once the bar is visible. Returns what the terminal showed, and the exit
 * code that a shell reports.
 */
async function interrupted(work: string): Promise<{ shown: string; code: number | null }> {
  const node = `exec '${process.execPath}' --import tsx --input-type=module -e "$PROGRAM"`;
  const child = spawn('script', ['-qec', node, '/dev/null'], {
    env: { ...process.env, PROGRAM: program(work), SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    if (!shown.includes('25 %') && (shown + text).includes('25 %'))
      setTimeout(() => child.stdin.write('\x03'), 300);
    shown += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { shown, code };
}

for (const [where, work] of [
  ['in the midst of a computation', 'runInterruptibly(bar, () => { for (;;); });'],
  ['between two turns', 'setInterval(() => bar.reading(1, 4), 50);'],
] as const)
  test(`Ctrl-C ${where} erases the bar, and the process dies of it`, {
    skip: !hasTerminal && 'no script(1)',
  }, async () => {
    const { shown, code } = await interrupted(work);
    const [, afterBar] = /^[\s\S]*\[#+\.+\] 25 %[^\r]*([\s\S]*)$/.exec(shown) ?? [];
    assert.equal(afterBar, '\r\x1b[K', 'nothing but the erasing follows the bar');
    assert.equal(code, 130);
  });

test('without a terminal the signal does what it always does', () => {
  const words = ['--import', 'tsx', '--input-type=module', '-e'];
  const work =
    "setTimeout(() => process.kill(process.pid, 'SIGINT'), 10); setInterval(() => runInterruptibly(bar, () => 0), 5);";
  const text = program(work).replace(/while .*/, '');
  const { signal, stderr } = spawnSync(process.execPath, [...words, text], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(signal, 'SIGINT');
});
