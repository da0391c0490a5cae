/** Facts of an issue in words, the same in the terminal and in the workbench. */
import { formatCount, formatNumber } from '../quantities.ts';
import type { IssueStory, NameList, Rate } from './issue.ts';

/** `1 in 40`; `12 in 4` if there are more deaths than starts, as of a fault that ends requests. Three digits are enough. */
export function rateOf({ deaths, starts }: Rate): string {
  if (deaths >= starts) return `${formatNumber(deaths)} in ${formatNumber(starts)}`;
  const each = starts / deaths;
  return `1 in ${formatNumber(each < 100 ? Math.round(each * 10) / 10 : Number(each.toPrecision(3)))}`;
}

/** The same with its figures: deaths whose start nobody counted are no part of it. */
export function rateSentence({ rate, count }: IssueStory): string | undefined {
  if (!rate) return undefined;
  const { deaths, starts, since } = rate;
  const uncounted = count - deaths;
  const rest = uncounted > 0 ? `; ${formatCount(uncounted, 'death')} of starts that were not counted` : '';
  return `${rateOf(rate)} starts: ${formatCount(deaths, 'death')} in ${formatCount(starts, 'start')} since ${since}${rest}`;
}

/** The names of a list with their deaths; undefined if it is empty. */
export function namesOf(
  { unlisted, ...story }: IssueStory,
  list: NameList,
  clean: (name: string) => string = (name) => name,
): string | undefined {
  const names = story[list].map(({ name, count }) => `${clean(name)} (${formatNumber(count)})`);
  const rest = unlisted?.[list];
  if (rest)
    names.push(
      `and ${rest.isAtLeast ? 'at least ' : ''}${formatNumber(rest.names)} more (${formatNumber(rest.count)})`,
    );
  return names.join(', ') || undefined;
}
