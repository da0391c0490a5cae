/** `agentdump open`: the workbench, a local page over bundles, heap snapshots and cores, for as long as the terminal is there. */
import type { CommandModule } from 'yargs';
import { AgentdumpError } from '../../errors.ts';
import { signals } from '../../platform/signals.ts';
import { dirOption, keyOptions, keysOf } from '../options/bundle-options.ts';
import { note, print } from '../output.ts';

interface Words {
  target?: string | undefined;
  port: number;
  browser: boolean;
  exe?: string | undefined;
  dir: string;
  identity?: string | undefined;
  passphraseFile?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'open [target]',
  describe: 'Explore bundles, heap snapshots and cores in the browser, on a local page',
  builder: (yargs) =>
    yargs
      .positional('target', {
        type: 'string',
        describe:
          'A bundle ("latest", a path, a name or id prefix), a heap snapshot, a core, or a folder of them; default: --dir',
      })
      .option('port', {
        type: 'number',
        default: 0,
        requiresArg: true,
        describe: 'Port to listen on; 0: any that is free',
      })
      .option('browser', {
        type: 'boolean',
        default: true,
        describe: 'Open the browser (--no-browser only prints the address)',
      })
      .option('exe', { type: 'string', requiresArg: true, describe: 'Of a core: path of the executable' })
      .option('dir', dirOption)
      .options(keyOptions)
      .epilogue('It listens on 127.0.0.1 only, reads only, and ends with Ctrl-C.'),
  handler: async (words) => {
    const { target, dir, exe, port } = words;
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new AgentdumpError('usage', '--port takes a number from 0 to 65535', { argument: '--port' });
    const { openWorkbench } = await import('../../workbench/open.ts');
    const keys = await keysOf(words);
    const workbench = await openWorkbench({ target, dir, keys, executable: exe, port });
    print(workbench.url);
    note('the workbench is open until Ctrl-C');
    const forget = words.browser ? await showInBrowser(workbench.url) : () => {};
    await untilEnded();
    forget();
    await workbench.close();
  },
};
export default command;

async function showInBrowser(url: string): Promise<() => void> {
  const { openBrowser } = await import('../../workbench/server/open-browser.ts');
  return openBrowser(url);
}

/** Until its terminal says so; that there is nothing more to read on stdin says nothing. */
function untilEnded(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of [signals.interrupt, signals.end, signals.hangUp])
      process.once(signal, () => resolve());
  });
}
