/** Compares the account of a damaged file with the account of the undamaged one. */
import type { Account } from '../../../src/model/account.ts';

export const wrong = 'wrong and certain';

/** The title, and the frames of the crashed thread. */
export function toldBy({ verdict, threads }: Account): string {
  const frames = threads?.find(({ crashed }) => crashed)?.frames ?? [];
  return JSON.stringify([
    verdict?.title,
    frames.map(({ function: name, file, line, column, tier }) => [name, file, line, column, tier]),
  ]);
}

/** The first frames that are not the same, of two results of `toldBy`. */
export function differences(told: string, truth: string): string {
  const [mine, wanted] = [told, truth].map((text) => (JSON.parse(text) as unknown[]).flat(1)) as [
    unknown[],
    unknown[],
  ];
  const rows = Array.from({ length: Math.max(mine.length, wanted.length) }, (_, i) => [mine[i], wanted[i]]);
  const other = rows.filter(([one, two]) => JSON.stringify(one) !== JSON.stringify(two));
  return other
    .slice(0, 3)
    .map(([one, two]) => `${JSON.stringify(one)} not ${JSON.stringify(two)}`)
    .join('\n  ');
}

/** `truth`: the result of `toldBy` for the undamaged file. */
export function judge(account: Account, truth: string): string {
  if (toldBy(account) === truth) return 'right';
  const isSure = account.verdict?.confidence === 'certain' && account.gaps.length === 0;
  return isSure ? wrong : 'less, and says so';
}
