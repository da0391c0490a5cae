/** `agentdump core`: the account of a core file of Node. */
import type { CommandModule } from 'yargs';
import { accountForCore } from '../../analysis/core/core-account.ts';
import type { Account } from '../../model/account.ts';
import { exitCodes } from '../exit-codes.ts';
import { htmlOption } from '../options/bundle-options.ts';
import { note, print, stdoutColumns, stdoutWantsColour } from '../output.ts';

interface Words {
  file: string;
  exe?: string | undefined;
  heap: boolean;
  all: boolean;
  json?: boolean | undefined;
  html?: string | undefined;
  mini?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'core <file>',
  describe: 'Analyze a core file: JavaScript and native frames of every stack',
  builder: (yargs) =>
    yargs
      .positional('file', {
        type: 'string',
        demandOption: true,
        describe: 'Core file of Node 20 or later, Linux x64 or arm64',
      })
      .option('exe', {
        type: 'string',
        describe: 'Path of the executable, if not the one recorded in the core',
      })
      .option('heap', {
        type: 'boolean',
        default: true,
        describe: 'Walk the heap for suspended functions and object counts (--no-heap is faster)',
      })
      .option('all', { type: 'boolean', default: false, describe: 'Show every thread, frame and register' })
      .option('mini', {
        type: 'string',
        describe:
          'Write a mini core here: the same account from some 80 KB (gzipped when the name ends in .gz)',
      })
      .option('json', { type: 'boolean', describe: 'Print JSON, schema agentdump.analysis/1' })
      .option('html', htmlOption)
      .conflicts('json', 'html')
      .epilogue(
        'Exit code: 0 explained, 1 explained with gaps, 2 usage, 3 unreadable input, 4 internal error.',
      ),
  handler: async (words) => {
    const options = { heap: words.heap, ...(words.exe ? { executable: words.exe } : {}) };
    const account = words.mini
      ? await writeMini(words.file, words.mini, options)
      : await accountForCore(words.file, options);
    if (words.html !== undefined) (await import('../page.ts')).writePage(account, words.html);
    else print(await render(account, words));
    process.exitCode = account.gaps.length ? exitCodes.explainedWithGaps : exitCodes.explained;
  },
};
export default command;

async function render(account: Account, { json, all }: Words): Promise<string> {
  if (json) return (await import('../../report/json.ts')).renderJson(account);
  const { renderCore } = await import('../../report/core.ts');
  const palette = stdoutWantsColour() ? (await import('../terminal-palette.ts')).terminalPalette : undefined;
  return renderCore(account, { columns: stdoutColumns(), all, ...(palette && { palette }) });
}

async function writeMini(file: string, target: string, options: { executable?: string }): Promise<Account> {
  const { writeMiniCore } = await import('../../analysis/core/mini/mini-core.ts');
  const { account, bytes, memoryBytes } = await writeMiniCore(file, target, options);
  note(`${target}: ${bytes} bytes, with ${memoryBytes} bytes of memory`);
  return account;
}
