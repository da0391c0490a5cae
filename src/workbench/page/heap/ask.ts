/**
 * Asks the heap or the memory that the server has open, and caches the latest answers, so that going back is immediate.
 * What a view asks in one turn is one request: each request costs several changes of process.
 */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { Answers as HeapAnswers, HeapQuestion } from '../../heap/questions.ts';
import type { MemoryAnswers, MemoryQuestion } from '../../memory/questions.ts';
import { type AnswerInBatch, addresses, mostQuestions } from '../../protocol.ts';
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

/** The answer if it is cached. */
export function knownAnswer<Asked extends Question>(question: Asked): Answers[Asked['ask']] | undefined {
  return kept.get(JSON.stringify(question)) as Answers[Asked['ask']] | undefined;
}

interface Waiting {
  key: string;
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
}
let waiting: Waiting[] = [];

function fetchAnswer(key: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (waiting.length === 0) queueMicrotask(sendWaiting);
    waiting.push({ key, resolve, reject });
  });
}

/** An address has a limit, so a long question is asked alone. */
const longestTogether = 500;

function sendWaiting(): void {
  const all = waiting;
  waiting = [];
  const short = all.filter(({ key }) => key.length <= longestTogether);
  for (let from = 0; from < short.length; from += mostQuestions)
    void send(short.slice(from, from + mostQuestions));
  for (const one of all) if (one.key.length > longestTogether) void send([one]);
}

async function send(questions: readonly Waiting[]): Promise<void> {
  try {
    const words = new URLSearchParams(questions.map(({ key }) => ['q', key]));
    const response = await fetch(`${addressOf(whoAnswers())}?${words}`).catch(() => {
      throw new Error('The workbench has ended.');
    });
    if (!response.ok) throw new Error((await response.text()).trim());
    const answers = (await response.json()) as AnswerInBatch[];
    for (const [n, { key, resolve, reject }] of questions.entries()) {
      const { answer, reason } = answers[n] ?? {};
      if (answer === undefined) reject(new Error(reason ?? 'There is no answer.'));
      else resolve(keep(key, answer));
    }
  } catch (error) {
    for (const { reject } of questions) reject(error as Error);
  }
}

function keep(key: string, answer: unknown): unknown {
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
  // An effect would wait for the next frame.
  useLayoutEffect(() => {
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
