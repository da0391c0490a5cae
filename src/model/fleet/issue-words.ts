/** Facts of an issue in words, the same in the terminal and in the workbench. */
import { formatNumber } from '../quantities.ts';
import type { IssueStory, NameList } from './issue.ts';

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
