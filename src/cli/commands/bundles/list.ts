/** `agentdump list`: the bundles of a folder, newest first. */
import type { CommandModule } from 'yargs';
import { listBundles } from '../../../bundle/finished/list.ts';
import { renderBundleList } from '../../../report/bundle-list.ts';
import { harmlessJson } from '../../../report/json.ts';
import { dirOption } from '../../options/bundle-options.ts';
import { note, print, stdoutColumns, stdoutWantsColour } from '../../output/output.ts';

interface Words {
  dir: string;
  json?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'list',
  describe: 'List the bundles, newest first',
  builder: (yargs) =>
    yargs
      .option('dir', dirOption)
      .option('json', { type: 'boolean', describe: 'Print JSON: a list of bundles' }),
  handler: async ({ dir, json }) => {
    const bundles = listBundles(dir, { withErrors: true });
    if (json) return print(harmlessJson(JSON.stringify(bundles, null, 2)));
    if (!bundles.length) return note(`no bundle in ${dir}`);
    const palette = stdoutWantsColour()
      ? (await import('../../output/terminal-palette.ts')).terminalPalette
      : undefined;
    print(renderBundleList(bundles, { columns: stdoutColumns(), ...(palette && { palette }) }));
  },
};
export default command;
