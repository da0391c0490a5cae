/** Parses a question from a URL, and checks it before the heap is asked. Throws `usage`. */
import { parseQuestion, wrongQuestion } from '../server/parse-question.ts';
import type { HeapQuestion } from './questions.ts';

type Check = (value: unknown) => boolean;

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText: Check = (value) => typeof value === 'string' && value.length <= 8_000;
const isTruth: Check = (value) => typeof value === 'boolean';
const oneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string);
const part = { from: isCount, count: isCount };

const known: Readonly<Record<HeapQuestion['ask'], Readonly<Record<string, Check>>>> = {
  summary: {},
  classes: { sort: oneOf('retained', 'self', 'count', 'name'), filter: isText, ...part },
  objects: {
    class: (value) => value === undefined || isCount(value),
    sort: oneOf('retained', 'self', 'distance', 'id'),
    ...part,
  },
  object: { id: isCount },
  at: { address: (value) => typeof value === 'string' && /^0x[0-9a-f]{1,12}$/.test(value) },
  fields: { id: isCount, isRaw: isTruth, ...part },
  retainers: { id: isCount, ...part },
  dominated: { id: isCount, ...part },
  tiles: { id: isCount },
  strings: part,
  suspects: {},
  query: { text: isText, ...part },
  complete: { text: isText, caret: isCount },
  fill: {},
};

export function readQuestion(text: string | null): HeapQuestion {
  const asked = parseQuestion(text);
  const { ask } = asked;
  const checks =
    typeof ask === 'string' && Object.hasOwn(known, ask) ? known[ask as HeapQuestion['ask']] : undefined;
  if (!checks) throw wrongQuestion('ask');
  for (const [name, check] of Object.entries(checks)) if (!check(asked[name])) throw wrongQuestion(name);
  return asked as HeapQuestion;
}
