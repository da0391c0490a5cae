/** `agentdump approve` and `agentdump reject`, which differ in one word. */
import type { CommandModule } from 'yargs';
import { answerQuestion } from '../../../durable/inspect.ts';
import { escapeTerminal } from '../../../report/escape-terminal.ts';
import { readJsonWord } from '../../options/read-json-word.ts';
import { type RunWords, runPositional, runStoreOption, withStore } from '../../options/run-options.ts';
import { note, print } from '../../output/output.ts';

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
          describe:
            'The request: its id as `agentdump runs` shows it, or its name or path if no other has the same name',
        })
        .options(runStoreOption)
        .option('value', { type: 'string', describe: 'JSON value to return to the run' })
        .epilogue('A run whose values are sealed needs AGENTDUMP_RUN_KEY.'),
    handler: async ({ dir, run, name, value }) => {
      const approved = word === 'approve';
      const wish = value === undefined ? { approved } : { approved, value: readJsonWord(value, 'value') };
      const { path, request } = await withStore(dir, (store) => answerQuestion(store, run, name, wish));
      if (request !== undefined) note(`the request was ${oneLine(request)}`);
      print(escapeTerminal(`${run}: ${path} ${approved ? 'approved' : 'rejected'}`));
    },
  };
}

const longestRequest = 400;

/** A request on one line, shortened if it is too long to read. */
export function oneLine(request: unknown): string {
  const text = JSON.stringify(request) ?? String(request);
  return text.length <= longestRequest
    ? text
    : `${text.slice(0, longestRequest)}… (${text.length} characters)`;
}
