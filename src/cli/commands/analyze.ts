/** `agentdump analyze`: the account of one bundle. */
import type { CommandModule } from 'yargs';
import { analyzeBundle } from '../../analysis/analyze.ts';
import type { Account } from '../../model/account.ts';
import {
  type BundleWords,
  bundlePositional,
  dirOption,
  identityOption,
  openMeant,
} from '../bundle-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { print, stdoutColumns, stdoutWantsColour } from '../output.ts';

interface Words extends BundleWords {
  json?: boolean | undefined;
  markdown?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'analyze <bundle>',
  describe: 'The account of the death: what happened, the proof, and what to do next',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('json', { type: 'boolean', describe: 'One JSON document, schema agentdump.analysis/1' })
      .option('markdown', { type: 'boolean', describe: 'One page of Markdown' })
      .option('dir', dirOption)
      .option('identity', identityOption)
      .conflicts('json', 'markdown')
      .epilogue(
        'Exit code: 0 explained, 1 explained with gaps, 2 usage, 3 unreadable input, 4 internal error.',
      ),
  handler: async (words) => {
    const bundle = await openMeant(words);
    try {
      const account = await analyzeBundle(bundle);
      print(await render(account, words));
      process.exitCode = exitCodeFor(account);
    } finally {
      bundle.close();
    }
  },
};
export default command;

/** Each renderer is loaded only when it is wanted. */
async function render(account: Account, { json, markdown }: Words): Promise<string> {
  if (json) return (await import('../../report/json.ts')).renderJson(account);
  if (markdown) return (await import('../../report/markdown.ts')).renderMarkdown(account);
  const { renderText } = await import('../../report/text.ts');
  const palette = stdoutWantsColour() ? (await import('../terminal-palette.ts')).terminalPalette : undefined;
  return renderText(account, { columns: stdoutColumns(), ...(palette && { palette }) });
}

function exitCodeFor({ verdict, gaps }: Account): ExitCode {
  return verdict?.kind === 'unknown' || gaps.length ? exitCodes.explainedWithGaps : exitCodes.explained;
}
