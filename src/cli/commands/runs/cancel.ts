/** `agentdump cancel <run>`. */
import type { CommandModule } from 'yargs';
import { cancelRun } from '../../../durable/dispatch/act-on-run.ts';
import { escapeTerminal } from '../../../report/escape-terminal.ts';
import { type RunWords, runPositional, runStoreOption, withStore } from '../../options/run-options.ts';
import { print } from '../../output/output.ts';

interface Words extends RunWords {
  run: string;
  reason?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'cancel <run>',
  describe: 'Cancel a durable run; it can not be resumed',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(runStoreOption)
      .option('reason', { type: 'string', describe: 'Kept with the run, and told to its program' }),
  handler: async ({ dir, run, reason }) => {
    const became = await withStore(dir, (store) => cancelRun(store, run, { reason }));
    const told = 'its worker was told; a step at work may end first';
    print(escapeTerminal(`${run}: ${became === 'cancelled' ? 'cancelled' : told}`));
  },
};
export default command;
