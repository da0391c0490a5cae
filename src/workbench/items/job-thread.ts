/** The thread of one job: reads and analyzes, so that the server answers meanwhile, and can end it at any moment. */
import { parentPort, workerData } from 'node:worker_threads';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { computeDiff } from '../../analysis/diff/diff.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { assertNever } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import { collectNow } from '../../platform/pending-collection.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import { mapStrings } from '../../report/map-strings.ts';
import type { Said, Work } from './work.ts';

const { work } = workerData as { work: Work };

try {
  const result = await resultOf(work);
  say({ kind: 'ready', result: JSON.stringify(mapStrings(result, escapeTerminal)) });
} catch (error) {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  say({ kind: 'failed', reason: escapeTerminal(message || (stack ?? 'it failed')) });
}
collectNow();

function say(said: Said): void {
  parentPort?.postMessage(said);
}

async function resultOf(asked: Work): Promise<object> {
  switch (asked.what) {
    case 'account':
      return analyzeAt(asked.path, asked);
    case 'core': {
      say({ kind: 'progress', text: 'reading the core' });
      const { accountForCore } = await import('../../analysis/core/core-account.ts');
      return accountForCore(asked.path, asked.executable ? { executable: asked.executable } : {});
    }
    case 'diff': {
      const accounts: [Account, Account] = [
        await analyzeAt(asked.paths[0], asked),
        await analyzeAt(asked.paths[1], asked),
      ];
      return { accounts, diff: computeDiff([accounts[0]], accounts[1]) };
    }
    default:
      return assertNever(asked, 'work');
  }
}

async function analyzeAt(path: string, { keys }: Work): Promise<Account> {
  say({ kind: 'progress', text: 'reading the bundle' });
  const bundle = openBundle(path, keys);
  try {
    return await analyzeBundle(bundle);
  } finally {
    bundle.close();
  }
}
