/** `agentdump mcp`: the same facts as tools for a coding assistant, over stdin and stdout. */
import type { CommandModule } from 'yargs';
import { serveTools } from '../mcp/server.ts';
import { Shelf } from '../mcp/shelf.ts';
import { dirOption, keyOptions, keysOf } from '../options/bundle-options.ts';
import { note } from '../output.ts';

interface Words {
  dir: string;
  root?: string[] | undefined;
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
      .options(keyOptions)
      .epilogue('To be started by the assistant: {"command": "npx", "args": ["agentdump", "mcp"]}'),
  handler: async (words) => {
    const shelf = new Shelf([words.dir, ...(words.root ?? [])], await keysOf(words));
    if (process.stdin.isTTY) note(`an MCP server over ${shelf.roots.join(', ')}; an assistant starts it`);
    await serveTools(shelf);
  },
};
export default command;
