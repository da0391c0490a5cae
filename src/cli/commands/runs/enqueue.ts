/** `agentdump enqueue <program>`. */
import type { CommandModule } from 'yargs';
import { enqueueRun } from '../../../durable/dispatch/act-on-run.ts';
import { AgentdumpError } from '../../../errors.ts';
import { escapeTerminal } from '../../../report/escape-terminal.ts';
import { readJsonWord } from '../../options/read-json-word.ts';
import { type RunWords, runStoreOption, withStore } from '../../options/run-options.ts';
import { note, print } from '../../output/output.ts';

interface Words extends RunWords {
  program: string;
  id?: string | undefined;
  input?: string | undefined;
  at?: string | undefined;
  priority?: number | undefined;
  queue?: string | undefined;
  'queue-key'?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'enqueue <program>',
  describe: 'Queue a durable run for the workers of its program',
  builder: (yargs) =>
    yargs
      .positional('program', {
        type: 'string',
        demandOption: true,
        describe: 'Name of the program, as the workers know it',
      })
      .options(runStoreOption)
      .option('id', { type: 'string', describe: 'Run id; a run that exists is not queued again' })
      .option('input', { type: 'string', describe: 'JSON value that the run gets as its input' })
      .option('at', { type: 'string', describe: 'Earliest start, for example 2027-01-31T08:00:00Z' })
      .option('priority', { type: 'number', describe: 'Higher ones are taken first', default: 0 })
      .option('queue', { type: 'string', describe: 'Queue whose limits apply, as the workers declare it' })
      .option('queue-key', { type: 'string', describe: 'Key within the queue, for its limits per key' })
      .epilogue('With AGENTDUMP_RUN_KEY the input is sealed.'),
  handler: async ({ dir, program, id, input, at, priority, queue, 'queue-key': queueKey }) => {
    const startAt = at === undefined ? undefined : readTime(at);
    const wish = {
      id: id || undefined,
      ...(input !== undefined && { input: readJsonWord(input, 'input') }),
      startAt,
      priority,
      queue,
      queueKey,
    };
    const queued = await withStore(dir, (store) => enqueueRun(store, program, wish));
    if (!queued.isNew) note(`run ${queued.id} exists already; it was not queued again`);
    print(escapeTerminal(queued.id));
  },
};
export default command;

function readTime(text: string): Date {
  const time = new Date(text);
  if (Number.isFinite(time.getTime())) return time;
  throw new AgentdumpError('usage', `--at wants a time like 2027-01-31T08:00:00Z, not ${text}`, {
    argument: 'at',
  });
}
