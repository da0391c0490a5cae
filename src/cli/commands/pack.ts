/** `agentdump pack`: a bundle's folder as one file that can be read in place. */
import type { CommandModule } from 'yargs';
import { packBundle } from '../../bundle/pack.ts';
import { formatBytes } from '../../model/quantities.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import { type BundleWords, bundlePositional, dirOption, outputOption, pathOf } from '../bundle-options.ts';
import { note, print } from '../output.ts';

const command: CommandModule<object, BundleWords & { output?: string | undefined }> = {
  command: 'pack <bundle>',
  describe: 'Make one file of a bundle, to send or to keep; analyze reads it as it is',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('output', outputOption('The file to write; beside the bundle otherwise'))
      .option('dir', dirOption),
  handler: (words) => {
    const { path, bytes, leftOut } = packBundle(pathOf(words), words.output ? { output: words.output } : {});
    for (const name of leftOut) note(`left out, since it is no part: ${name}`);
    print(escapeLine(path));
    note(`${formatBytes(bytes)} written`);
  },
};
export default command;
