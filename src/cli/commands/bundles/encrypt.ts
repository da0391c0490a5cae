/** `agentdump encrypt`: a bundle as one age file that only its recipient can read. */
import type { CommandModule } from 'yargs';
import { encryptBundle } from '../../../bundle/finished/pack-encrypted.ts';
import { readLock } from '../../../bundle/write/age-key.ts';
import { AgentdumpError } from '../../../errors.ts';
import { formatBytes } from '../../../model/quantities.ts';
import { escapeLine } from '../../../report/escape-terminal.ts';
import {
  bundlePositional,
  dirOption,
  jsonOption,
  type MakingWords,
  outputOption,
  pathOf,
  readPassphrase,
} from '../../options/bundle-options.ts';
import { note, print, printJson } from '../../output/output.ts';

type Words = MakingWords & { recipient?: string | undefined };

const command: CommandModule<object, Words> = {
  command: 'encrypt <bundle>',
  describe: 'Encrypt a bundle into one age file for a recipient or passphrase',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('recipient', {
        type: 'string',
        describe: 'age1… (comma-separated) or a file of recipients; default: AGENTDUMP_RECIPIENT',
      })
      .option('passphrase-file', {
        type: 'string',
        describe: 'File with a passphrase, instead of a recipient',
      })
      .conflicts('recipient', 'passphrase-file')
      .option('output', outputOption('The file to write; beside the bundle otherwise'))
      .option('dir', dirOption)
      .option('json', jsonOption),
  handler: (words) => {
    const recipient = words.recipient ?? process.env['AGENTDUMP_RECIPIENT'];
    const passphrase = words.passphraseFile && readPassphrase(words.passphraseFile);
    if (!recipient && !passphrase)
      throw new AgentdumpError('usage', '--recipient is missing', {
        argument: 'recipient',
      });
    const lock = readLock(passphrase ? `passphrase:${passphrase}` : (recipient ?? ''));
    const options = words.output ? { output: words.output } : {};
    const { path, bytes } = encryptBundle(pathOf(words), lock, options);
    if (words.json) return printJson({ path, bytes }, 2);
    print(escapeLine(path));
    note(`${formatBytes(bytes)} written; the clear bundle is still there`);
  },
};
export default command;
