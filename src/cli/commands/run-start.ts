/**
 * The entry point of `run`, which delays its program's start: the build bundles all that this file imports into one CommonJS
 * file (dist/cli/start-run.cjs), which Node loads in half the time of ten ES modules. Other commands begin at start.ts.
 */
import { settle, settleAtExit } from '../settle.ts';
import { runWords } from './run.ts';

/** `words`: the first is `run`. */
export async function startFromShell([command = '', ...words]: readonly string[]): Promise<void> {
  settleAtExit();
  try {
    if (words[0] === '--help' || words[0] === '-h') {
      const { runFromShell } = await import('../main.ts');
      await runFromShell([command, ...words]);
    } else await runWords(words);
  } catch (error) {
    const { endFailed } = await import('../main.ts');
    endFailed(error);
  }
  settle();
}
