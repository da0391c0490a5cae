/** `agentdump mcp`: provides the same facts as tools for a coding assistant, over stdin and stdout. */
import type { CommandModule } from 'yargs';
import { AllowedBundles } from '../mcp/allowed-bundles.ts';
import { serveTools } from '../mcp/server.ts';
import { dirOption, keyOptions, keysOf } from '../options/bundle-options.ts';
import { storeOption } from '../options/store-options.ts';
import { note } from '../output/output.ts';

interface Words {
  dir: string;
  root?: string[] | undefined;
  store?: string | undefined;
  identity?: string | undefined;
  passphraseFile?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'mcp',
  describe: 'Start an MCP server on stdio that gives coding assistants access to the bundles',
  builder: (yargs) =>
    yargs
      .option('dir', dirOption)
      .option('root', {
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'Another dump folder to give access to; nothing else can be read',
      })
      .option('store', storeOption)
      .options(keyOptions)
      .epilogue('To be started by the assistant: {"command": "npx", "args": ["agentdump", "mcp"]}'),
  handler: async (words) => {
    const fleet = await fleetAt(words.store);
    const allowed = new AllowedBundles([words.dir, ...(words.root ?? [])], await keysOf(words), fleet);
    if (process.stdin.isTTY) note(`an MCP server over ${allowed.roots.join(', ')}; an assistant starts it`);
    await serveTools(allowed);
  },
};
export default command;

/** Not queried before the assistant asks. */
async function fleetAt(place: string | undefined) {
  if (!place) return undefined;
  const [{ Fleet }, { nameOfStore }] = await Promise.all([
    import('../../workbench/fleet/fleet.ts'),
    import('../../store/places.ts'),
  ]);
  return new Fleet(place, nameOfStore(place));
}
