/** `agentdump send`: sealed bundles into a store, each once. */
import type { CommandModule } from 'yargs';
import { listBundles } from '../../../bundle/finished/list.ts';
import { AgentdumpError } from '../../../errors.ts';
import type { SentBundle } from '../../../model/fleet/issue.ts';
import { renderSent } from '../../../report/issues.ts';
import { exitCodes } from '../../exit-codes.ts';
import { dirOption, jsonOption, keyOptions, keysOf, pathOf } from '../../options/bundle-options.ts';
import { storeOption, withStore } from '../../options/store-options.ts';
import { note, print, printJson, stdoutWantsColour } from '../../output.ts';

interface Words {
  bundles?: string[] | undefined;
  all?: boolean | undefined;
  dir: string;
  to?: string | undefined;
  json?: boolean | undefined;
  identity?: string | undefined;
  passphraseFile?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'send [bundles..]',
  describe: 'Send sealed bundles to a store',
  builder: (yargs) =>
    yargs
      .positional('bundles', {
        type: 'string',
        array: true,
        describe: '"latest", paths, or names or id prefixes of bundles in --dir',
      })
      .option('all', { type: 'boolean', describe: 'Every sealed bundle of --dir' })
      .option('dir', dirOption)
      .option('to', storeOption)
      .option('json', jsonOption)
      .options(keyOptions)
      .epilogue(
        'A bundle that is there already is success. Exit code: 0 all are in the store, 1 one was refused, 2 usage, or no store.',
      ),
  handler: async (words) => {
    const paths = pathsOf(words);
    const keys = await keysOf(words);
    const sent: SentBundle[] = [];
    if (paths.length)
      await withStore(words.to, 'to', async (store) => {
        const { sendBundle } = await import('../../../store/send.ts');
        for (const path of paths) sent.push(await sendBundle(store, path, { ...(keys && { keys }) }));
      });
    if (sent.some(({ outcome }) => outcome === 'refused')) process.exitCode = exitCodes.explainedWithGaps;
    if (words.json) return printJson({ sent }, 2);
    if (!sent.length) return note(`no sealed bundle in ${words.dir}`);
    const palette = stdoutWantsColour()
      ? (await import('../../terminal-palette.ts')).terminalPalette
      : undefined;
    print(renderSent(sent, { ...(palette && { palette }) }));
  },
};
export default command;

/** Of a folder, what has been sealed: the others are still being written, or never will be whole. */
function pathsOf({ bundles = [], all = false, dir }: Words): string[] {
  if (all === bundles.length > 0)
    throw new AgentdumpError('usage', 'name the bundles to send, or --all', { argument: 'bundles' });
  if (!all) return bundles.map((bundle) => pathOf({ bundle, dir }));
  const listed = listBundles(dir);
  const unsealed = listed.filter(({ state }) => state === 'partial' || state === 'unreadable').length;
  if (unsealed > 0) note(`${unsealed} in ${dir} not sealed: left out`);
  return listed
    .filter(({ state }) => state !== 'partial' && state !== 'unreadable')
    .map(({ path }) => path)
    .reverse();
}
