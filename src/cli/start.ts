/**
 * The entry point. `run` is loaded first and alone, because it delays the program's start: the build bundles the imports of
 * this file into one CommonJS file (dist/cli/start.cjs), which Node loads in half the time of ten ES modules. All other
 * commands are in main.ts.
 */
import { runWords } from './commands/run.ts';
import { settle, settleAtExit } from './settle.ts';

export async function startFromShell(words: readonly string[]): Promise<void> {
  settleAtExit();
  await runCommand(words);
  settle();
}

async function runCommand([command, ...words]: readonly string[]): Promise<void> {
  const wantsHelp = words[0] === '--help' || words[0] === '-h';
  if (command !== 'run' || wantsHelp) {
    const { runFromShell } = await import('./main.ts');
    await runFromShell(command === undefined ? [] : [command, ...words]);
    return;
  }
  try {
    await runWords(words);
  } catch (error) {
    const { endFailed } = await import('./main.ts');
    endFailed(error);
  }
}
