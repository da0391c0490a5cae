/** `agentdump diff`: the differences between two bundles, or between one and a baseline folder. */
import type { CommandModule } from 'yargs';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { computeDiff } from '../../analysis/diff/diff.ts';
import { findBundle, listBundles } from '../../bundle/finished/list.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import type { BundleDiff } from '../../model/diff.ts';
import { exitCodes } from '../exit-codes.ts';
import {
  type BundleWords,
  bundlePositional,
  dirOption,
  type Keys,
  keyOptions,
  keysOf,
  pathOf,
} from '../options/bundle-options.ts';
import { note, print, stdoutColumns, stdoutWantsColour } from '../output/output.ts';

interface Words extends Omit<BundleWords, 'bundle'> {
  a: string;
  b?: string | undefined;
  baseline?: string | undefined;
  all?: boolean | undefined;
  json?: boolean | undefined;
  markdown?: boolean | undefined;
}

/** More bundles of a baseline take long to read and add nothing. */
const mostOfBaseline = 50;

const command: CommandModule<object, Words> = {
  command: 'diff <a> [b]',
  describe: 'Compare two bundles, or a bundle with a baseline',
  builder: (yargs) =>
    yargs
      .usage('$0 diff <a> <b>\n$0 diff <bundle> --baseline DIR [--all]')
      .positional('a', {
        ...bundlePositional,
        describe: 'The earlier bundle; with --baseline, the bundle to compare',
      })
      .positional('b', { type: 'string', describe: 'The later bundle' })
      .option('baseline', {
        type: 'string',
        describe: 'Compare with the newest bundle of this folder',
        requiresArg: true,
      })
      .option('all', {
        type: 'boolean',
        describe: 'With --baseline: what none of its bundles contains',
        implies: 'baseline',
      })
      .option('json', { type: 'boolean', describe: 'Print JSON, schema agentdump.diff/1' })
      .option('markdown', { type: 'boolean', describe: 'Print Markdown' })
      .option('dir', dirOption)
      .options(keyOptions)
      .conflicts('json', 'markdown')
      .epilogue(
        'Exit code: 0 compared, 1 compared with gaps, 2 usage, 3 unreadable input, 4 internal error.',
      ),
  handler: async (words) => {
    const keys = await keysOf(words);
    const { before, after } = pathsOf(words);
    const accounts: Account[] = [];
    for (const path of before) {
      const account = await analyzeAt(path, keys, before.length > 1);
      if (account) accounts.push(account);
    }
    const own = await analyzeAt(after, keys, false);
    if (!own || !accounts.length)
      throw new AgentdumpError('not-found', 'no bundle of the baseline can be read', {
        path: words.baseline,
      });
    const diff = computeDiff(accounts, own);
    print(await render(diff, words));
    process.exitCode = diff.gaps.length ? exitCodes.explainedWithGaps : exitCodes.explained;
  },
};
export default command;

function pathsOf({ a, b, baseline, all, dir }: Words): { before: string[]; after: string } {
  if (baseline === undefined) {
    if (b === undefined)
      throw new AgentdumpError('usage', 'a second bundle, or --baseline, is missing', { argument: 'b' });
    return { before: [pathOf({ bundle: a, dir })], after: pathOf({ bundle: b, dir }) };
  }
  if (b !== undefined)
    throw new AgentdumpError('usage', '--baseline takes the place of a second bundle', { argument: 'b' });
  const after = pathOf({ bundle: a, dir });
  const others = all ? listBundles(baseline).map(({ path }) => path) : [findBundle('latest', baseline)];
  const before = others.filter((path) => path !== after).slice(0, mostOfBaseline);
  if (!before.length)
    throw new AgentdumpError('not-found', `there is no bundle in ${baseline}`, { path: baseline });
  return { before, after };
}

/** A bundle that can't be read is reported and skipped if there are others. */
async function analyzeAt(
  path: string,
  keys: Keys | undefined,
  isOneOfMany: boolean,
): Promise<Account | undefined> {
  try {
    const bundle = openBundle(path, keys);
    try {
      return await analyzeBundle(bundle);
    } finally {
      bundle.close();
    }
  } catch (error) {
    if (!isOneOfMany) throw error;
    note(`left out: ${(error as Error).message}`);
    return undefined;
  }
}

async function render(diff: BundleDiff, { json, markdown }: Words): Promise<string> {
  if (json) return (await import('../../report/json.ts')).harmlessJson(JSON.stringify(diff, null, 2));
  if (markdown) return (await import('../../report/diff/markdown.ts')).renderDiffMarkdown(diff);
  const { renderDiff } = await import('../../report/diff/text.ts');
  const palette = stdoutWantsColour()
    ? (await import('../output/terminal-palette.ts')).terminalPalette
    : undefined;
  return renderDiff(diff, { columns: stdoutColumns(), ...(palette && { palette }) });
}
