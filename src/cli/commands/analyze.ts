/** `agentdump analyze`: the account of one bundle. */
import { readFileSync, statSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { finishLatestDeath } from '../latest-death.ts';
import {
  type BundleWords,
  bundlePositional,
  dirOption,
  htmlOption,
  keyOptions,
  keysOf,
  pathOf,
} from '../options/bundle-options.ts';
import { print, stdoutColumns, stdoutWantsColour } from '../output/output.ts';

const largestReport = 128 * 1024 * 1024;

interface Words extends BundleWords {
  json?: boolean | undefined;
  markdown?: boolean | undefined;
  html?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'analyze <bundle>',
  describe: 'Analyze a bundle: what killed the process, the evidence, and what to do next',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('json', { type: 'boolean', describe: 'Print JSON, schema agentdump.analysis/1' })
      .option('markdown', { type: 'boolean', describe: 'Print Markdown' })
      .option('html', htmlOption)
      .option('dir', dirOption)
      .options(keyOptions)
      .conflicts('json', ['markdown', 'html'])
      .conflicts('markdown', 'html')
      .epilogue(
        'Exit code: 0 explained, 1 explained with gaps, 2 usage, 3 unreadable input, 4 internal error.',
      ),
  handler: async (words) => {
    await finishLatestDeath(words);
    const account = await analyzeMeant(words);
    if (words.html !== undefined) (await import('../output/page.ts')).writePage(account, words.html);
    else print(await render(account, words));
    process.exitCode = exitCodeFor(account);
  },
};
export default command;

/** A bundle, or a diagnostic report that Node wrote by itself. */
async function analyzeMeant(words: Words): Promise<Account> {
  const path = pathOf(words);
  if (isReportFile(path)) {
    const { analyzeReport } = await import('../../analysis/analyze-report.ts');
    return analyzeReport(readReportFile(path), path);
  }
  const bundle = openBundle(path, await keysOf(words));
  try {
    return await analyzeBundle(bundle);
  } finally {
    bundle.close();
  }
}

function isReportFile(path: string): boolean {
  return path.endsWith('.json') && statSync(path).isFile();
}

/** The size is checked first: a file may be larger than memory. */
function readReportFile(path: string): Buffer {
  const { size } = statSync(path);
  if (size <= largestReport) return readFileSync(path);
  throw new AgentdumpError('over-limit', `${path} has ${size} bytes, too many for a diagnostic report`, {
    limit: 'diagnostic report bytes',
    wanted: size,
    allowed: largestReport,
  });
}

/** Each renderer is loaded on demand. */
async function render(account: Account, { json, markdown }: Words): Promise<string> {
  if (json) return (await import('../../report/json.ts')).renderJson(account);
  if (markdown) return (await import('../../report/markdown.ts')).renderMarkdown(account);
  const { renderText } = await import('../../report/text.ts');
  const palette = stdoutWantsColour()
    ? (await import('../output/terminal-palette.ts')).terminalPalette
    : undefined;
  return renderText(account, { columns: stdoutColumns(), ...(palette && { palette }) });
}

function exitCodeFor({ verdict, gaps }: Account): ExitCode {
  return verdict?.kind === 'unknown' || gaps.length ? exitCodes.explainedWithGaps : exitCodes.explained;
}
