/** `agentdump pack`: a bundle's folder as one file that can be read in place. */
import type { CommandModule } from 'yargs';
import { packBundle } from '../../../bundle/finished/pack.ts';
import { formatBytes } from '../../../model/quantities.ts';
import { escapeLine } from '../../../report/escape-terminal.ts';
import {
  bundlePositional,
  dirOption,
  jsonOption,
  type MakingWords,
  outputOption,
  pathOf,
} from '../../options/bundle-options.ts';
import { note, print, printJson } from '../../output/output.ts';

const command: CommandModule<object, MakingWords> = {
  command: 'pack <bundle>',
  describe: 'Make one file of a bundle, to send or to keep; analyze reads it as it is',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('output', outputOption('The file to write; beside the bundle otherwise'))
      .option('dir', dirOption)
      .option('json', jsonOption),
  handler: (words) => {
    const { path, bytes, leftOut } = packBundle(pathOf(words), words.output ? { output: words.output } : {});
    for (const name of leftOut) note(`left out, since it is no part: ${name}`);
    if (words.json) return printJson({ path, bytes, leftOut }, 2);
    print(escapeLine(path));
    note(`${formatBytes(bytes)} written`);
  },
};
export default command;
