/** `agentdump prune`: retention on request, with the limits that the preload has. */
import type { CommandModule } from 'yargs';
import { applyRetention } from '../../bundle/retention.ts';
import { formatBytes, formatCount } from '../../model/quantities.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import { dirOption, readCountOption, readSize } from '../bundle-options.ts';
import { note, print } from '../output.ts';

interface Words {
  dir: string;
  'max-bundles': string;
  'max-bytes': string;
  'dry-run'?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'prune',
  describe: 'Remove the oldest bundles beyond a number or a size; the newest always stays',
  builder: (yargs) =>
    yargs
      .option('dir', dirOption)
      .option('max-bundles', {
        type: 'string',
        describe: 'How many bundles may stay',
        default: process.env['AGENTDUMP_MAX_BUNDLES'] || '20',
      })
      .option('max-bytes', {
        type: 'string',
        describe: 'What all of them may take, for example 500MB',
        default: process.env['AGENTDUMP_MAX_BYTES'] || '2GB',
      })
      .option('dry-run', { type: 'boolean', describe: 'Say what would go, and remove nothing' }),
  handler: (words) => {
    const { removed, freedBytes, bundles, bytes } = applyRetention({
      dir: words.dir,
      maxBundles: readCountOption(words['max-bundles'], 'max-bundles'),
      maxBytes: readSize(words['max-bytes'], 'max-bytes'),
      ...(words['dry-run'] && { dryRun: true }),
    });
    for (const name of removed) print(escapeLine(name));
    const verb = words['dry-run'] ? 'would be removed' : 'removed';
    note(
      `${formatCount(removed.length, 'bundle')} ${verb} (${formatBytes(freedBytes)}); ${formatCount(bundles, 'bundle')} of ${formatBytes(bytes)} ${words['dry-run'] ? 'would stay' : 'stay'}`,
    );
  },
};
export default command;
