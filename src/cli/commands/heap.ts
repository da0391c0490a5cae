/** `agentdump heap …`: questions to a heap snapshot. Reads the words, asks one document, hands it to one renderer. */
import type { CommandModule } from 'yargs';
import { AgentdumpError } from '../../errors.ts';
import type { HeapDocument } from '../../model/heap.ts';
import { harmlessJson } from '../../report/json.ts';
import { htmlOption } from '../bundle-options.ts';
import { exitCodes } from '../exit-codes.ts';
import { print, writeNew } from '../output.ts';
import { type HeapWords, questions, readWords } from './heap-questions.ts';

interface HeapArguments {
  words?: (string | number)[];
  json: boolean;
  limit?: number;
  sort?: string;
  format?: string;
  out?: string;
  html?: string;
  threads?: number;
  dir?: string;
}

const examples: [string, string][] = [
  ['$0 heap app.heapsnapshot', 'the heap at a glance'],
  ['$0 heap suspects latest', 'what leaks, in the newest bundle'],
  ['$0 heap retainers app.heapsnapshot @1234', 'who refers to a node'],
  ['$0 heap diff a.heapsnapshot b.heapsnapshot', 'what grew'],
  ['$0 heap query app.heapsnapshot "class = Session and retained > 1MB"', 'nodes by condition'],
];

const command: CommandModule<object, HeapArguments> = {
  command: 'heap [words..]',
  describe: 'Summary, classes, suspects, retainers, diff, query of a heap snapshot',
  builder: (yargs) => {
    const actions = Object.entries(questions).map(
      ([name, { words, about }]) => `  ${`${name} ${words}`.padEnd(34)}${about}`,
    );
    let built = yargs
      .usage(`$0 heap [question] <file|bundle> …\n\nQuestions:\n${actions.join('\n')}`)
      .positional('words', {
        describe: 'the question, the file or bundle, what else it takes',
        type: 'string',
        array: true,
      })
      .option('json', { describe: 'one JSON document', type: 'boolean', default: false })
      .option('limit', { describe: 'rows at most', type: 'number', requiresArg: true })
      .option('sort', {
        describe: 'classes by: retained, self, count, name',
        type: 'string',
        requiresArg: true,
      })
      .option('format', {
        describe: 'query: table, json, csv; export: speedscope, folded',
        type: 'string',
        requiresArg: true,
      })
      .option('out', { describe: 'write to this file instead of stdout', type: 'string', requiresArg: true })
      .option('html', { ...htmlOption, describe: `${htmlOption.describe}; without a question` })
      .option('threads', { describe: 'cores to use: 1 or 2', type: 'number', requiresArg: true })
      .option('dir', { describe: 'folder of bundles', type: 'string', requiresArg: true });
    for (const [words, about] of examples) built = built.example(words, about);
    return built as never;
  },
  handler: async (argv) => {
    const words = readWords((argv.words ?? []).map(String));
    if (argv.html !== undefined) return pageOf(argv, words);
    const { document, text } = await questions[words.question]!.answer(optionsOf(argv, words));
    const output = argv.json ? `${harmlessJson(JSON.stringify(document, null, 2))}\n` : text();
    if (argv.out === undefined) print(output);
    else writeNew(argv.out, output);
    if ((document as HeapDocument).gaps?.length) process.exitCode = exitCodes.explainedWithGaps;
  },
};

async function pageOf(argv: HeapArguments, words: HeapWords): Promise<void> {
  if (words.question !== 'summary')
    throw new AgentdumpError('usage', '--html takes no question: the page shows the heap as a whole', {
      argument: '--html',
    });
  const [{ heapAccount }, { writePage }] = await Promise.all([
    import('./heap-page.ts'),
    import('../page.ts'),
  ]);
  const { sources, dir, threads } = optionsOf(argv, words);
  const account = await heapAccount(sources[0]!, dir, threads);
  writePage(account, argv.html!);
  if (account.gaps.length) process.exitCode = exitCodes.explainedWithGaps;
}

function optionsOf(argv: HeapArguments, words: HeapWords) {
  if (argv.limit !== undefined && !(argv.limit >= 1))
    throw new AgentdumpError('usage', '--limit takes a number of at least 1', { argument: '--limit' });
  return {
    sources: words.sources,
    rest: words.rest,
    limit: argv.limit === undefined ? undefined : Math.floor(argv.limit),
    sort: argv.sort,
    format: argv.format,
    threads: argv.threads ?? 2,
    dir: argv.dir ?? process.env['AGENTDUMP_DIR'] ?? '.agentdump',
  };
}

export default command;
