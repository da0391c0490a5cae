/** Checks a question about memory that came in a URL. Throws `usage`. */
import { parseQuestion, wrongQuestion } from '../server/parse-question.ts';
import type { MemoryQuestion } from './questions.ts';

const mostWords = 512;
/** User space ends below 2^48 on the machines that are read. */
const address = /^0x[0-9a-f]{1,12}$/;

export function readMemoryQuestion(text: string | null): MemoryQuestion {
  const { ask, at, count } = parseQuestion(text);
  if (ask !== 'words') throw wrongQuestion('ask');
  if (typeof at !== 'string' || !address.test(at)) throw wrongQuestion('at');
  if (!Number.isSafeInteger(count) || (count as number) < 0 || (count as number) > mostWords)
    throw wrongQuestion('count');
  return { ask, at, count: count as number };
}
