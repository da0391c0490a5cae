/** Parses a question from a URL, and checks it before the heap is asked. Throws `usage`. */
import { AgentdumpError } from '../../errors.ts';
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
  const asked = parse(text);
  const { ask } = asked;
  const checks =
    typeof ask === 'string' && Object.hasOwn(known, ask) ? known[ask as HeapQuestion['ask']] : undefined;
  if (!checks) throw wrong('ask');
  for (const [name, check] of Object.entries(checks)) if (!check(asked[name])) throw wrong(name);
  return asked as HeapQuestion;
}

function parse(text: string | null): Record<string, unknown> {
  try {
    const asked: unknown = JSON.parse(text ?? '');
    if (typeof asked === 'object' && asked !== null) return asked as Record<string, unknown>;
  } catch {
    // Treated like any other invalid question.
  }
  throw wrong('question');
}

const wrong = (what: string): AgentdumpError =>
  new AgentdumpError('usage', `this is no question: ${what}`, { argument: what });
