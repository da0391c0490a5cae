/**
 * The entry point of all commands but `run` (commands/run-start.ts): what that one needs before its program starts would cost
 * the others 10 ms.
 */
import { settle, settleAtExit } from './settle.ts';

export async function startFromShell(words: readonly string[]): Promise<void> {
  settleAtExit();
  const { runFromShell } = await import('./main.ts');
  await runFromShell([...words]);
  settle();
}
