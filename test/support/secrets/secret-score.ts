/** Scores a redactor on the corpus: secrets found by class, look-alikes changed, and the items that it got wrong. */
import type { CorpusClass, CorpusItem } from './secret-corpus.ts';

/**
 * This many consecutive characters of a secret's last two thirds are a leak; the public start and the last four characters
 * may remain.
 */
const leakLength = 8;

export function isLeaked(secret: string, output: string): boolean {
  if (secret.length < leakLength * 2) return output.includes(secret);
  for (let i = Math.floor(secret.length / 3); i + leakLength <= secret.length; i++)
    if (output.includes(secret.slice(i, i + leakLength))) return true;
  return false;
}

export interface ClassScore {
  total: number;
  /** Secrets found, or look-alikes left unchanged. */
  right: number;
  wrong: { item: CorpusItem; output: string }[];
}

export type Redactor = (text: string, known: string[]) => string;

export function scoreCorpus(items: CorpusItem[], redactor: Redactor): Map<CorpusClass, ClassScore> {
  const scores = new Map<CorpusClass, ClassScore>();
  for (const item of items) {
    const score = scores.get(item.class) ?? { total: 0, right: 0, wrong: [] };
    scores.set(item.class, score);
    const output = redactor(item.text, item.known ?? []);
    const isRight = item.class === 'look-alike' ? output === item.text : !isLeaked(item.secret, output);
    score.total += 1;
    if (isRight) score.right += 1;
    else score.wrong.push({ item, output });
  }
  return scores;
}
