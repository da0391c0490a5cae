/** `agentdump resume <run> [-- command]`: starts the run's own command line, or another one, so that it resumes this run. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CommandModule } from 'yargs';
import { findCommand } from '../../../durable/inspect.ts';
import { AgentdumpError } from '../../../errors.ts';
import { endLike } from '../../../supervise/run/exit-status.ts';
import { runSupervised } from '../../../supervise/run/run.ts';
import { type RunWords, runPositional, runStoreOption, withStore } from '../../options/run-options.ts';
import { readWords } from '../../options/run-words.ts';
import { note } from '../../output/output.ts';

interface Words extends RunWords {
  run: string;
  '--'?: (string | number)[] | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'resume <run>',
  describe: 'Resume a durable run under a supervisor, with its own command line or the one after --',
  builder: (yargs) => yargs.positional('run', runPositional).options(runStoreOption),
  handler: async (words) => {
    const { dir, run } = words;
    const recorded = await withStore(dir, (store) => findCommand(store, run));
    const given = words['--']?.map(String) ?? [];
    const { line, cwd } = given.length ? { line: given, cwd: process.cwd() } : requireCommand(run, recorded);
    const isUrl = dir.includes('://');
    process.env['AGENTDUMP_RESUME'] = run;
    process.env[isUrl ? 'AGENTDUMP_RUN_STORE' : 'AGENTDUMP_DIR'] = isUrl ? dir : resolve(dir);
    process.chdir(cwd);
    const dumps = resolve(process.env['AGENTDUMP_DIR'] || '.agentdump');
    const options = readWords(
      ['--dir', dumps, '--no-escalate', '--no-core', '--', ...line],
      process.env,
      note,
    );
    endLike((await runSupervised(options)).exit);
  },
};
export default command;

function requireCommand(run: string, recorded: { command: string[]; cwd: string } | undefined) {
  if (recorded && existsSync(recorded.cwd))
    return { line: [process.execPath, ...recorded.command], cwd: recorded.cwd };
  const why = recorded ? `its folder ${recorded.cwd} is not here` : 'its command line was not kept';
  throw new AgentdumpError('usage', `${why}: name the command, agentdump resume ${run} -- node app.js`, {
    argument: 'command',
  });
}
