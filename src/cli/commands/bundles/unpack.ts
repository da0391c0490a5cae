/** `agentdump unpack`: extracts a packed bundle into a folder. */
import type { CommandModule } from 'yargs';
import { unpackBundle } from '../../../bundle/finished/unpack.ts';
import { escapeLine } from '../../../report/escape-terminal.ts';
import {
  bundlePositional,
  dirOption,
  jsonOption,
  keyOptions,
  keysOf,
  type MakingWords,
  outputOption,
  pathOf,
} from '../../options/bundle-options.ts';
import { note, print, printJson } from '../../output/output.ts';

const command: CommandModule<object, MakingWords> = {
  command: 'unpack <bundle>',
  describe: 'Unpack a packed bundle into a folder',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option(
        'output',
        outputOption('The folder in which to make the bundle’s own; that of the file otherwise'),
      )
      .option('dir', dirOption)
      .option('json', jsonOption)
      .options(keyOptions),
  handler: async (words) => {
    const keys = await keysOf(words);
    const { path, leftOut } = unpackBundle(pathOf(words), {
      ...(words.output && { output: words.output }),
      ...(keys && { keys }),
    });
    for (const name of leftOut) note(`left out, since it is no part: ${name}`);
    if (words.json) return printJson({ path, leftOut }, 2);
    print(escapeLine(path));
  },
};
export default command;
