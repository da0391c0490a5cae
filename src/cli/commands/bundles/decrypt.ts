/** `agentdump decrypt`: the packed bundle that an age file contains. */
import type { CommandModule } from 'yargs';
import { decryptBundle } from '../../../bundle/finished/pack-encrypted.ts';
import { AgentdumpError } from '../../../errors.ts';
import { formatBytes } from '../../../model/quantities.ts';
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
  command: 'decrypt <bundle>',
  describe: 'Make a packed bundle of an encrypted one; analyze --identity reads it as it is',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .options(keyOptions)
      .option('output', outputOption('File to write; default: beside the bundle'))
      .option('dir', dirOption)
      .option('json', jsonOption),
  handler: async (words) => {
    const keys = await keysOf(words);
    if (!keys)
      throw new AgentdumpError('usage', '--identity or --passphrase-file is missing', {
        argument: 'identity',
      });
    const options = words.output ? { output: words.output } : {};
    const { path, bytes } = decryptBundle(pathOf(words), keys, options);
    if (words.json) return printJson({ path, bytes }, 2);
    print(escapeLine(path));
    note(`${formatBytes(bytes)} written`);
  },
};
export default command;
