/** `agentdump bisect <bundle> --good REV --bad REV -- command …`: finds the commit that introduced the failure. */
import type { CommandModule } from 'yargs';
import { bisect } from '../../replay/bisect.ts';
import type { ReplayOptions } from '../../replay/replay.ts';
import { type BundleWords, bundlePositional, dirOption, keyOptions } from '../options/bundle-options.ts';
import { liveOption, programOf, readMeant } from '../options/recording-words.ts';
import { note, print, printForeign, printJson } from '../output/output.ts';

interface Words extends BundleWords {
  good: string;
  bad: string;
  onMismatch?: ReplayOptions['onMismatch'] | undefined;
  live?: string[] | undefined;
  json?: boolean | undefined;
  '--'?: string[] | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'bisect <bundle>',
  describe: 'Find the commit that introduced a crash, by replaying it',
  builder: (yargs) =>
    yargs
      .usage('$0 bisect <bundle> --good REV [--bad REV] -- node agent.js')
      .positional('bundle', bundlePositional)
      .option('good', { type: 'string', demandOption: true, describe: 'A revision without the crash' })
      .option('bad', { type: 'string', default: 'HEAD', describe: 'A revision with the crash' })
      .option('on-mismatch', {
        choices: ['stop', 'live', 'answer'] as const,
        default: 'answer' as const,
        describe:
          'A request that is not the recorded one: skip the commit, send it on, or give the next recorded reply',
      })
      .option('live', liveOption)
      .option('json', { type: 'boolean', describe: 'Print JSON' })
      .option('dir', dirOption)
      .options(keyOptions)
      .epilogue('Exit code: 0 found, 1 not found. 2 usage, 3 unreadable input, 4 internal error.'),
  handler: async (words) => {
    const recording = await readMeant(words);
    const { good, bad, onMismatch = 'answer', live = [] } = words;
    const result = await bisect({
      recording,
      command: programOf(words, recording),
      good,
      bad,
      onMismatch,
      live,
      note,
    });
    const { commit } = result;
    if (words.json) printJson(result);
    else if (!commit) print('NOT FOUND: the commits that are left could not be judged');
    else
      printForeign(
        `${commit.hash} is the first that dies so\n  ${commit.subject}\n  ${commit.author}, ${commit.date}`,
      );
    process.exitCode = commit ? 0 : 1;
  },
};
export default command;
