/**
 * `agentdump open`: the workbench, a local page for bundles, heap snapshots, cores, a process and a store. Runs until the
 * terminal ends it.
 */
import { existsSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { AgentdumpError } from '../../errors.ts';
import { platform } from '../../platform/index.ts';
import { signals } from '../../platform/signals.ts';
import { escapeLine } from '../../report/escape-terminal.ts';
import { isFleetPlace } from '../../store/places.ts';
import { dirOption, keyOptions, keysOf, pathOf, reportFolder } from '../options/bundle-options.ts';
import { note, print } from '../output/output.ts';

interface Words {
  target?: string | undefined;
  port: number;
  browser: boolean;
  heap: boolean;
  exe?: string | undefined;
  dir: string;
  identity?: string | undefined;
  passphraseFile?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'open [target]',
  describe: 'Explore bundles, heap snapshots, cores, a process or a store in the browser, on a local page',
  builder: (yargs) =>
    yargs
      .positional('target', {
        type: 'string',
        describe:
          'A bundle ("latest", a path, a name or id prefix), a heap snapshot, a core, a folder of them, a process id, or a store (its folder, or "postgres://…"); default: --dir',
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
      .option('heap', {
        type: 'boolean',
        default: false,
        describe: 'Of a process: include its heap; the process is paused for a copy of its memory',
      })
      .option('exe', { type: 'string', requiresArg: true, describe: 'Of a core: path of the executable' })
      .option('dir', dirOption)
      .options(keyOptions)
      .epilogue('It listens on 127.0.0.1 only, reads only, and ends with Ctrl-C.'),
  handler: async (words) => {
    const { dir, exe, port } = words;
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new AgentdumpError('usage', '--port takes a number from 0 to 65535', { argument: '--port' });
    const { openWorkbench } = await import('../../workbench/open.ts');
    const keys = await keysOf(words);
    const target = await targetOf(words);
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

/**
 * The target as a path or a store, or undefined for the dump folder; a process is captured first. Throws `not-found`, and
 * `usage` for an argument that may also be a bundle's id.
 */
async function targetOf({ target, dir, heap }: Words): Promise<string | undefined> {
  if (target === undefined) {
    const isReport = dir === dirOption.default && !existsSync(dir) && existsSync(reportFolder);
    return isReport ? reportFolder : undefined;
  }
  if (existsSync(target) || isFleetPlace(target)) return target;
  if (!/^\d{1,10}$/.test(target) || !platform.isThere(Number(target))) return pathOf({ bundle: target, dir });
  const pid = Number(target);
  if (isBundle(target, dir))
    throw new AgentdumpError(
      'usage',
      `${target} is a process, and the start of a bundle's id: write the bundle's name, or capture the process`,
      { argument: 'target' },
    );
  const { captureProcess } = await import('./capture-process.ts');
  const { path } = await captureProcess({ pid, dir, heap });
  note(`process ${pid} goes on; what is shown is ${escapeLine(path)}`);
  return path;
}

function isBundle(target: string, dir: string): boolean {
  try {
    pathOf({ bundle: target, dir });
    return true;
  } catch {
    return false;
  }
}

async function showInBrowser(url: string): Promise<() => void> {
  const { openBrowser } = await import('../../workbench/server/open-browser.ts');
  return openBrowser(url);
}

/** Resolves at a signal; the end of stdin is ignored. */
function untilEnded(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of [signals.interrupt, signals.end, signals.hangUp])
      process.once(signal, () => resolve());
  });
}
