/** `agentdump heap …` for yargs: its arguments and help. */
import type { CommandModule } from 'yargs';
import { htmlOption } from '../../options/bundle-options.ts';
import { answerHeap, type HeapArguments } from './answer.ts';
import { questions } from './questions.ts';

const command: CommandModule<object, HeapArguments> = {
  command: 'heap [words..]',
  describe:
    'Analyze a heap snapshot or a core’s heap: summary, classes, leak suspects, retainers, diff, query',
  builder: (yargs) => {
    const actions = Object.entries(questions).map(
      ([name, { words, about }]) => `  ${`${name} ${words}`.padEnd(40)}${about}`,
    );
    return yargs
      .usage(`$0 heap [question] <file|bundle|core|pid> …\n\nQuestions:\n${actions.join('\n')}`)
      .positional('words', {
        describe: 'question, file, bundle, core or process id, and the question’s arguments',
        type: 'string',
        array: true,
      })
      .option('json', { describe: 'print JSON', type: 'boolean', default: false })
      .option('limit', { describe: 'maximum number of rows', type: 'number', requiresArg: true })
      .option('sort', {
        describe: 'sort classes by: retained, self, count, name',
        type: 'string',
        requiresArg: true,
      })
      .option('baseline', {
        describe:
          'suspects: an earlier snapshot of the same program: what grew since; query: another one of the same process, for the field change',
        type: 'string',
        requiresArg: true,
      })
      .option('watch', {
        describe:
          'suspects and diff: look three times at the heap of this living process, which stands still only for each copy',
        type: 'string',
        requiresArg: true,
      })
      .option('every', {
        describe: 'with --watch: seconds between two looks; 60 without it',
        type: 'number',
        requiresArg: true,
      })
      .option('format', {
        describe: 'query: table, json, csv; export: speedscope, folded, heapsnapshot',
        type: 'string',
        requiresArg: true,
      })
      .option('output', {
        alias: ['o', 'out'],
        describe: 'write to this file instead of stdout',
        type: 'string',
        requiresArg: true,
      })
      .option('exe', {
        describe: 'executable of a core, if not the one recorded in it',
        type: 'string',
        requiresArg: true,
      })
      .option('thread', {
        describe: 'id of the thread of a core or process whose heap is read, if not the main thread’s',
        type: 'number',
        requiresArg: true,
      })
      .option('html', { ...htmlOption, describe: `${htmlOption.describe}; without a question` })
      .option('threads', { describe: 'cores to use: 1 or 2', type: 'number', requiresArg: true })
      .option('dir', { describe: 'folder of bundles', type: 'string', requiresArg: true }) as never;
  },
  handler: answerHeap,
};

export default command;
