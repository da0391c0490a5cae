/** Asks the heap or the memory that the server has open, and caches the latest answers, so that going back is immediate. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answers as HeapAnswers, HeapQuestion } from '../../heap/questions.ts';
import type { MemoryAnswers, MemoryQuestion } from '../../memory/questions.ts';
import { addresses } from '../../protocol.ts';
import { addressOf, state } from '../state.ts';

type Question = HeapQuestion | MemoryQuestion;
type Answers = HeapAnswers & MemoryAnswers;

const mostKept = 60;
const kept = new Map<string, unknown>();
const asked = new Map<string, Promise<unknown>>();

/** Rejects with a message for the reader. */
export function ask<Asked extends Question>(question: Asked): Promise<Answers[Asked['ask']]> {
  const key = JSON.stringify(question);
  const known = kept.get(key);
  if (known !== undefined) return Promise.resolve(known as Answers[Asked['ask']]);
  const answer = asked.get(key) ?? fetchAnswer(key).finally(() => asked.delete(key));
  asked.set(key, answer);
  return answer as Promise<Answers[Asked['ask']]>;
}

/** Asks for what a view will need as soon as its first answer is there. A failure is told to who asks for it then. */
export function askAhead(questions: readonly HeapQuestion[]): void {
  for (const question of questions) ask(question).catch(() => undefined);
}

async function fetchAnswer(key: string): Promise<unknown> {
  const response = await fetch(`${addressOf(whoAnswers())}?q=${encodeURIComponent(key)}`).catch(() => {
    throw new Error('The workbench has ended.');
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  const answer = await response.json();
  kept.set(key, answer);
  for (const [oldest] of kept) {
    if (kept.size <= mostKept) break;
    kept.delete(oldest);
  }
  return answer;
}

const whoAnswers = (): string => {
  if (state.view === 'memory') return addresses.askMemory(state.item.id);
  return state.view === 'heap' ? addresses.ask(state.item.id) : '';
};

export interface Asking<Answer> {
  answer?: Answer;
  reason?: string;
}

/** The answer once it has arrived; before that nothing, or the cached one. */
export function useAnswer<Asked extends Question>(question: Asked): Asking<Answers[Asked['ask']]> {
  type Answer = Answers[Asked['ask']];
  const key = JSON.stringify(question);
  const got = useSignal<{ key: string } & Asking<Answer>>({ key: '' });
  useEffect(() => {
    let isWanted = true;
    ask(question).then(
      (answer) => {
        if (isWanted) got.value = { key, answer };
      },
      (error: Error) => {
        if (isWanted) got.value = { key, reason: error.message };
      },
    );
    return () => {
      isWanted = false;
    };
  }, [key]);
  const { answer, reason, key: own } = got.value;
  if (own === key)
    return { ...(answer !== undefined && { answer }), ...(reason !== undefined && { reason }) };
  const known = kept.get(key) as Answer | undefined;
  return known === undefined ? {} : { answer: known };
}
