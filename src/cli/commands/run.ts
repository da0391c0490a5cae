/** `agentdump run [options] -- command …`: run-words.ts reads its words, everything else is supervise/run/run.ts. */
import type { CommandModule } from 'yargs';
import type { AgentdumpError } from '../../errors.ts';
import { endLike } from '../../supervise/run/exit-status.ts';
import { runSupervised } from '../../supervise/run/run.ts';
import { readWords } from '../options/run-words.ts';
import { note } from '../output.ts';

/** When a crash loop is given up; no program's own code, if it follows the conventions (sysexits end at 78). */
const crashLoopCode = 79;
const notStartedCodes: Record<string, number> = { 'not-found': 127, unwritable: 126 };

export async function runWords(words: string[]): Promise<void> {
  if (process.pid === 1) (await import('../pid-one.ts')).becomeReaper(note);
  try {
    const { exit, crashLoop } = await runSupervised({
      ...readWords(words, process.env, note),
      digestCore: async (...core) => (await import('../core-digest.ts')).digestCore(...core),
      signatureOf: async (bundle) => (await import('../core-digest.ts')).signatureOf(bundle),
    });
    if (crashLoop) process.exitCode = crashLoopCode;
    else endLike(exit);
  } catch (error) {
    const code = notStartedCodes[(error as Partial<AgentdumpError>).code ?? ''];
    if (code === undefined) throw error;
    note((error as Error).message);
    process.exitCode = code;
  }
}

/** For `agentdump --help` and its suggestions; the words go to `runWords`. */
const command: CommandModule = {
  command: 'run',
  describe: 'Run a program under a supervisor that writes a bundle when it dies and can restart it',
  handler: () => {},
};
export default command;
