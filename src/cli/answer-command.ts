/** `agentdump approve` and `agentdump reject`, which differ in one word. */
import type { CommandModule } from 'yargs';
import { answerApproval } from '../durable/inspect.ts';
import { AgentdumpError } from '../errors.ts';
import { escapeTerminal } from '../report/escape-terminal.ts';
import { print } from './output.ts';
import { type RunWords, runPositional, runStoreOption, withStore } from './run-options.ts';

export interface AnswerWords extends RunWords {
  run: string;
  name: string;
  value?: string | undefined;
}

export function answerCommand(
  word: 'approve' | 'reject',
  describe: string,
): CommandModule<object, AnswerWords> {
  return {
    command: `${word} <run> <name>`,
    describe,
    builder: (yargs) =>
      yargs
        .positional('run', runPositional)
        .positional('name', {
          type: 'string',
          demandOption: true,
          describe: 'The request: its name, or its path as `agentdump runs` shows it',
        })
        .options(runStoreOption)
        .option('value', { type: 'string', describe: 'JSON value to return to the run' })
        .epilogue('A run whose values are sealed needs AGENTDUMP_RUN_KEY.'),
    handler: async ({ dir, run, name, value }) => {
      const approved = word === 'approve';
      const wish = value === undefined ? { approved } : { approved, value: readJson(value) };
      const path = await withStore(dir, (store) => answerApproval(store, run, name, wish));
      print(escapeTerminal(`${run}: ${path} ${approved ? 'approved' : 'rejected'}`));
    },
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AgentdumpError('usage', `--value wants JSON, not ${text}`, { argument: 'value' });
  }
}
