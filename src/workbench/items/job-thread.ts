/** The thread of one job: it reads and analyzes, so that the server stays responsive and can end the job at any moment. */
import { parentPort, workerData } from 'node:worker_threads';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { computeDiff } from '../../analysis/diff/diff.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { assertNever } from '../../errors.ts';
import type { Account } from '../../model/account.ts';
import { collectNow } from '../../platform/pending-collection.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import { mapStrings } from '../../report/map-strings.ts';
import type { HeapPlace } from '../heap/open-session.ts';
import type { HeapQuestion } from '../heap/questions.ts';
import type { MemoryPlace } from '../memory/memory-session.ts';
import type { MemoryQuestion } from '../memory/questions.ts';
import type { Progress } from '../protocol.ts';
import type { NumberedQuestion, Question, Said, Work } from './work.ts';

const { work } = workerData as { work: Work };

try {
  say({ kind: 'ready', result: safeJson(await resultOf(work)) });
} catch (error) {
  say({ kind: 'failed', reason: reasonOf(error) });
}
if (work.what !== 'heap' && work.what !== 'memory') collectNow();

function say(said: Said): void {
  parentPort?.postMessage(said);
}

function sayProgress(progress: Progress): void {
  say({ kind: 'progress', ...progress });
}

function safeJson(result: object): string {
  return JSON.stringify(mapStrings(result, escapeTerminal));
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return escapeTerminal(text || 'it failed');
}

async function resultOf(asked: Work): Promise<object> {
  switch (asked.what) {
    case 'account':
      return analyzeAt(asked.path, asked.keys);
    case 'core': {
      sayProgress({ text: 'reading the core' });
      const { accountForCore } = await import('../../analysis/core/core-account.ts');
      return accountForCore(asked.path, asked.executable ? { executable: asked.executable } : {});
    }
    case 'diff': {
      const [before, after] = asked.paths;
      const accounts: [Account, Account] = [
        await analyzeAt(before, asked.keys),
        await analyzeAt(after, asked.keys),
      ];
      return { accounts, diff: computeDiff([accounts[0]], accounts[1]) };
    }
    case 'growth': {
      const { growthBetween } = await import('../heap/growth.ts');
      return growthBetween(asked.places, sayProgress);
    }
    case 'heap':
      return openHeapToQuestions(asked.place);
    case 'memory':
      return openMemoryToQuestions(asked.place);
    default:
      return assertNever(asked, 'work');
  }
}

async function analyzeAt(path: string, keys: Keys | undefined): Promise<Account> {
  sayProgress({ text: 'reading the bundle' });
  const bundle = openBundle(path, keys);
  try {
    return await analyzeBundle(bundle);
  } finally {
    bundle.close();
  }
}

async function openHeapToQuestions(place: HeapPlace): Promise<object> {
  const { openSession } = await import('../heap/open-session.ts');
  const session = await openSession(place, sayProgress);
  answerWith((question) => session.answer(question as HeapQuestion));
  return session.summary;
}

async function openMemoryToQuestions(place: MemoryPlace): Promise<object> {
  const { openMemory } = await import('../memory/memory-session.ts');
  const session = await openMemory(place, sayProgress);
  answerWith((question) => session.answer(question as MemoryQuestion));
  return session.summary;
}

/** The thread stays alive because of its port. The server has checked the questions. */
function answerWith(answer: (question: Question) => object): void {
  parentPort?.on('message', ({ number, question }: NumberedQuestion) => {
    try {
      say({ kind: 'answer', number, answer: safeJson(answer(question)) });
    } catch (error) {
      say({ kind: 'refused', number, reason: reasonOf(error) });
    }
  });
}
