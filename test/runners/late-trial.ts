/**
 * Runs one suite of late-cases.ts under `agentdump ci`, and compares whom its report names with what the suite recorded
 * itself.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CiBundle, CiSummary } from '../../src/model/ci-summary.ts';
import { runUnderCi } from '../support/runners/runner-matrix.ts';
import type { LateCase } from './late-cases.ts';
import { truth } from './late-ways.ts';

const installed = fileURLToPath(new URL('node_modules', import.meta.url));

/**
 * `right`: the report names who began it. `unknown`: it names none, and says that it is not known. `unseen`: the runner
 * ignores the error, so that there is no bundle of it. `wrong`: it names another. `broken`: the suite did not reach its
 * fault.
 */
export type Verdict = 'right' | 'unknown' | 'unseen' | 'wrong' | 'broken';

/** Only bundles of this error or exit: a runner may die of something else afterwards. */
const isOfFault = ({ kind, title, summary }: CiBundle): boolean =>
  kind === 'exit' || `${title}\n${summary}`.includes('the socket is gone');

function verdictOf(
  owner: string | undefined,
  summary: CiSummary | undefined,
): { verdict: Verdict; told: string } {
  const bundles = summary?.bundles.filter(isOfFault) ?? [];
  const told = bundles
    .map(({ test, summary }) => `${test?.name.join(' › ') || 'nobody'} | ${summary}`)
    .join('\n    ');
  if (owner === undefined) return { verdict: 'broken', told: 'the suite did not come to its fault' };
  if (bundles.length === 0) return { verdict: 'unseen', told: 'no bundle' };
  const isRight = ({ test, summary = '' }: CiBundle): boolean =>
    owner === 'hook'
      ? /^(?:The hook|A hook around) .*? began it/.test(summary)
      : summary.startsWith('The test ') &&
        test?.name.at(-1)?.includes(owner) === true &&
        /began it/.test(summary);
  const isUnknown = ({ test, summary = '' }: CiBundle): boolean =>
    !test?.name.length && /^Which test began it is not known/.test(summary);
  if (!bundles.every((one) => isRight(one) || isUnknown(one))) return { verdict: 'wrong', told };
  return { verdict: bundles.some(isRight) ? 'right' : 'unknown', told };
}

export async function tryOne(
  { command, files }: LateCase,
  node: string,
): Promise<{ owner: string | undefined; verdict: Verdict; told: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-late-'));
  try {
    symlinkSync(installed, join(folder, 'node_modules'));
    for (const [name, text] of Object.entries({
      ...files,
      'truth.cjs': truth,
      'package.json': '{"type":"module"}',
    }))
      writeFileSync(join(folder, name), text);
    const path = join(folder, 'truth');
    const run = await runUnderCi({
      folder,
      death: 'none',
      command,
      node: resolve(node),
      env: { AGENTDUMP_TEST_TRUTH: path },
    });
    const owner = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n')[0] : undefined;
    const found = verdictOf(owner, run.summary);
    return { owner, ...found, told: found.verdict === 'broken' ? run.output.slice(-1500) : found.told };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
