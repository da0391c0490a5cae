/** The number of values withheld from a bundle, in words. */
import type { AccountBundle } from './account.ts';
import { formatCount } from './quantities.ts';

/** `17 values withheld by 6 rules`; undefined if there are none. A value counts once for each of its occurrences. */
export function withheldText({ redactions = [] }: AccountBundle): string | undefined {
  const values = redactions.reduce((sum, { count }) => sum + count, 0);
  if (values === 0) return undefined;
  const rules = new Set(redactions.map(({ rule }) => rule)).size;
  return `${formatCount(values, 'value')} withheld by ${formatCount(rules, 'rule')}`;
}
