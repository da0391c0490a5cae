/** `agentdump run [options] -- command …`: run-words.ts parses its options, supervise/run/run.ts does the rest. */
import type { CommandModule } from 'yargs';
import type { AgentdumpError } from '../../errors.ts';
import { endLike } from '../../supervise/run/exit-status.ts';
import { runSupervised } from '../../supervise/run/run.ts';
import { readWords } from '../options/run-words.ts';
import { note } from '../output/output.ts';
import type { BackgroundSend } from './store/background-send.ts';

/** The exit code after a crash loop was given up. Not used by programs that follow the conventions (sysexits end at 78). */
const crashLoopCode = 79;
/** Orchestrators give a container half a minute to end. */
const mostSendingMs = 10_000;
const startsEveryMs = 60 * 60_000;
const notStartedCodes: Record<string, number> = { 'not-found': 127, unwritable: 126 };

export async function runWords(words: string[]): Promise<void> {
  if (process.pid === 1) (await import('../pid-one.ts')).becomeReaper(note);
  let sending: BackgroundSend | undefined;
  try {
    const options = readWords(words, process.env, note);
    // A fault's rate needs the starts of the machines on which nothing dies, too.
    const sendStarts = async () => {
      const place = process.env['AGENTDUMP_STORE'];
      if (!place) return;
      try {
        const { claimTelling } = await import('../../store/sending/starts.ts');
        if (!claimTelling(options.dir, place, startsEveryMs)) return;
        sending ??= (await import('./store/background-send.ts')).backgroundSend(options.dir, process.env);
        sending?.send();
      } catch {
        // They are told the next time; the program's end stays what it is.
      }
    };
    const { exit, crashLoop } = await runSupervised({
      ...options,
      digestCore: async (...core) => (await import('./core-digest.ts')).digestCore(...core),
      readHeapApart: async (...heap) => (await import('./core-digest.ts')).readHeapApart(...heap),
      signatureOf: async (bundle) => (await import('./core-digest.ts')).signatureOf(bundle),
      onBundle: async () => {
        sending ??= (await import('./store/background-send.ts')).backgroundSend(options.dir, process.env);
        sending?.send();
      },
      onRunning: () => sendStarts(),
    });
    await sendStarts();
    // The remaining processes of a container end with its first one.
    if (process.pid === 1) await sending?.wait(mostSendingMs);
    if (crashLoop) process.exitCode = crashLoopCode;
    else endLike(exit);
  } catch (error) {
    const code = notStartedCodes[(error as Partial<AgentdumpError>).code ?? ''];
    if (code === undefined) throw error;
    note((error as Error).message);
    process.exitCode = code;
  }
}

/** For `agentdump --help` and its suggestions; `runWords` handles the arguments. */
const command: CommandModule = {
  command: 'run',
  describe: 'Run a program under a supervisor that writes a bundle when it dies and can restart it',
  handler: () => {},
};
export default command;
