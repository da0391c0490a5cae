/** `agentdump signal <run> <name>`. */
import type { CommandModule } from 'yargs';
import { sendSignal } from '../../../durable/dispatch/act-on-run.ts';
import { escapeTerminal } from '../../../report/escape-terminal.ts';
import { readJsonWord } from '../../options/read-json-word.ts';
import { type RunWords, runPositional, runStoreOption, withStore } from '../../options/run-options.ts';
import { print } from '../../output/output.ts';

interface Words extends RunWords {
  run: string;
  name: string;
  value?: string | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'signal <run> <name>',
  describe: 'Send a signal to a durable run',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .positional('name', {
        type: 'string',
        demandOption: true,
        describe: 'Name of the signal, as the program waits for it now or later',
      })
      .options(runStoreOption)
      .option('value', { type: 'string', describe: 'JSON value to return to the run' })
      .epilogue('A run whose values are sealed needs AGENTDUMP_RUN_KEY.'),
  handler: async ({ dir, run, name, value }) => {
    const wish = value === undefined ? {} : { value: readJsonWord(value, 'value') };
    const slot = await withStore(dir, (store) => sendSignal(store, run, name, wish));
    print(escapeTerminal(`${run}: signal ${name} sent, number ${slot + 1} of its name`));
  },
};
export default command;
