/** `agentdump rollback <run> --to <checkpoint or step>`. */
import type { CommandModule } from 'yargs';
import { rollBack } from '../../../durable/inspect.ts';
import { escapeTerminal } from '../../../report/escape-terminal.ts';
import { type RunWords, runPositional, runStoreOption, withStore } from '../../options/run-options.ts';
import { print } from '../../output/output.ts';

interface Words extends RunWords {
  run: string;
  to: string;
}

const command: CommandModule<object, Words> = {
  command: 'rollback <run>',
  describe: 'Roll a durable run back to a checkpoint, or to the point before a step or a question',
  builder: (yargs) =>
    yargs.positional('run', runPositional).options(runStoreOption).option('to', {
      type: 'string',
      demandOption: true,
      describe:
        'Id or label of a checkpoint, path of a step, or path or id of a question, as `agentdump runs` shows them',
    }),
  handler: async ({ dir, run, to }) => {
    const what = await withStore(dir, (store) => rollBack(store, run, to));
    print(escapeTerminal(`${run}: ${what}`));
  },
};
export default command;
