/** `agentdump core`: the account of a core file of Node. */
import type { CommandModule } from 'yargs';
import { accountForCore } from '../../analysis/core/core-account.ts';
import { AgentdumpError } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import { exitCodes } from '../exit-codes.ts';
import { htmlOption } from '../options/bundle-options.ts';
import { note, print, stdoutColumns, stdoutWantsColour } from '../output/output.ts';

interface Words {
  file: string;
  question?: (string | number)[] | undefined;
  exe?: string | undefined;
  heap: boolean;
  objects: boolean;
  all: boolean;
  limit?: number | undefined;
  format?: string | undefined;
  json?: boolean | undefined;
  html?: string | undefined;
  mini?: string | undefined;
}

/** Questions about the heap, by their names in `heap`. */
const heapQuestions: Readonly<Record<string, { question: string; words: string; about: string }>> = {
  inspect: { question: 'show', words: '@address', about: 'the value of an object' },
  refs: { question: 'retainers', words: '@address', about: 'what references it' },
  path: { question: 'path', words: '@address', about: 'why it was alive: the path from the roots' },
  paths: { question: 'paths', words: '<class|query>', about: 'what held many objects, merged' },
  query: { question: 'query', words: '<query>', about: 'objects by condition, as `heap query`' },
  strings: { question: 'strings', words: '', about: 'duplicate strings' },
};

const questionLines = Object.entries(heapQuestions).map(
  ([name, { words, about }]) => `  ${`${name} ${words}`.padEnd(20)}${about}`,
);

const command: CommandModule<object, Words> = {
  command: 'core <file> [question..]',
  describe: 'Analyze a core file: JavaScript and native frames of every stack',
  builder: (yargs) =>
    yargs
      .usage(`$0 core <file> [question]\n\nQuestions to its heap:\n${questionLines.join('\n')}`)
      .positional('file', {
        type: 'string',
        demandOption: true,
        describe:
          'Core file of Node 20 or later, Linux x64 or arm64: as it is, packed (gzip, zstd, lz4, xz), a report of apport, or - for stdin',
      })
      .positional('question', { type: 'string', array: true, describe: 'A question to its heap' })
      .option('exe', {
        type: 'string',
        describe: 'Path of the executable, if not the one recorded in the core',
      })
      .option('heap', {
        type: 'boolean',
        default: true,
        describe: 'Walk the heap for suspended functions and object counts (--no-heap is faster)',
      })
      .option('objects', { type: 'boolean', default: false, describe: 'Show the classes of its objects' })
      .option('limit', { type: 'number', requiresArg: true, describe: 'Maximum number of rows' })
      .option('format', { type: 'string', requiresArg: true, describe: 'query: table, json, csv' })
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
    const file = fileOf(words.file);
    const [question, ...rest] = (words.question ?? []).map(String);
    if (question !== undefined || words.objects) return askHeap(words, file, question, rest);
    const options = { heap: words.heap, ...(words.exe ? { executable: words.exe } : {}) };
    const account = words.mini
      ? await writeMini(file, words.mini, options)
      : await accountForCore(file, options);
    if (words.html !== undefined) (await import('../output/page.ts')).writePage(account, words.html);
    else print(await render(account, words));
    process.exitCode = account.gaps.length ? exitCodes.explainedWithGaps : exitCodes.explained;
  },
};
export default command;

/** yargs turns `-` into an empty string. */
function fileOf(word: string): string {
  if (word !== '' && word !== '-') return word;
  if (!process.stdin.isTTY) return '-';
  throw new AgentdumpError('usage', 'stdin is a terminal: name a core, or send one through a pipe', {
    argument: 'file',
  });
}

async function askHeap(words: Words, file: string, question: string | undefined, rest: string[]) {
  const found = question === undefined ? 'classes' : heapQuestions[question]?.question;
  if (found === undefined || !Object.hasOwn(heapQuestions, question ?? 'inspect'))
    throw new AgentdumpError(
      'usage',
      `${question} is no question: there are ${Object.keys(heapQuestions).join(', ')}; \`agentdump heap\` has more`,
      { argument: question },
    );
  const { answerHeap } = await import('./heap/answer.ts');
  const { exe, limit, format, json = false } = words;
  await answerHeap({
    words: [found, file, ...rest],
    json,
    isCore: true,
    ...(exe !== undefined && { exe }),
    ...(limit !== undefined && { limit }),
    ...(format !== undefined && { format }),
  });
}

async function render(account: Account, { json, all }: Words): Promise<string> {
  if (json) return (await import('../../report/json.ts')).renderJson(account);
  const { renderCore } = await import('../../report/core.ts');
  const palette = stdoutWantsColour()
    ? (await import('../output/terminal-palette.ts')).terminalPalette
    : undefined;
  return renderCore(account, { columns: stdoutColumns(), all, ...(palette && { palette }) });
}

async function writeMini(file: string, target: string, options: { executable?: string }): Promise<Account> {
  const [{ writeMiniCore }, { makeScrubber }] = await Promise.all([
    import('../../analysis/core/mini/mini-core.ts'),
    import('../../supervise/scrub/scrubber.ts'),
  ]);
  const redactor = makeScrubber(process.env);
  const { account, bytes, memoryBytes } = await writeMiniCore(file, target, { ...options, redactor });
  note(`${target}: ${bytes} bytes, with ${memoryBytes} bytes of memory`);
  return account;
}
