/** `agentdump heap …` as yargs knows it: its words, and the help about them. */
import type { CommandModule } from 'yargs';
import { htmlOption } from '../../options/bundle-options.ts';
import { answerHeap, type HeapArguments } from './answer.ts';
import { questions } from './questions.ts';

const examples: [string, string][] = [
  ['$0 heap app.heapsnapshot', 'overview of the heap'],
  ['$0 heap suspects latest', 'leak suspects of the newest bundle'],
  ['$0 heap retainers app.heapsnapshot @1234', 'what references a node (tables show node ids)'],
  ['$0 heap show app.heapsnapshot @1234', 'its value'],
  ['kubectl exec app -- cat heap.heapsnapshot.gz | $0 heap suspects -', 'from a pipe'],
  ['$0 heap suspects a.heapsnapshot b.heapsnapshot', 'what grew, as suspects'],
  ['$0 heap diff a.heapsnapshot b.heapsnapshot', 'what grew, by class and place'],
  ['$0 heap query app.heapsnapshot "class = Session and retained > 1MB"', 'nodes by condition'],
  ['$0 heap query app.heapsnapshot "select class, count(), sum(self) group by class"', 'groups and sums'],
];

const command: CommandModule<object, HeapArguments> = {
  command: 'heap [words..]',
  describe: 'Analyze a heap snapshot: summary, classes, leak suspects, retainers, diff, query',
  builder: (yargs) => {
    const actions = Object.entries(questions).map(
      ([name, { words, about }]) => `  ${`${name} ${words}`.padEnd(34)}${about}`,
    );
    let built = yargs
      .usage(`$0 heap [question] <file|bundle> …\n\nQuestions:\n${actions.join('\n')}`)
      .positional('words', {
        describe: 'question, file or bundle, and the question’s arguments',
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
      .option('format', {
        describe: 'query: table, json, csv; export: speedscope, folded',
        type: 'string',
        requiresArg: true,
      })
      .option('output', {
        alias: ['o', 'out'],
        describe: 'write to this file instead of stdout',
        type: 'string',
        requiresArg: true,
      })
      .option('html', { ...htmlOption, describe: `${htmlOption.describe}; without a question` })
      .option('threads', { describe: 'cores to use: 1 or 2', type: 'number', requiresArg: true })
      .option('dir', { describe: 'folder of bundles', type: 'string', requiresArg: true });
    for (const [words, about] of examples) built = built.example(words, about);
    return built as never;
  },
  handler: answerHeap,
};

export default command;
