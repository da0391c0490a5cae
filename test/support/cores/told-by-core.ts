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

/** `truth`: the result of `toldBy` for the undamaged file. */
export function judge(account: Account, truth: string): string {
  if (toldBy(account) === truth) return 'right';
  const isSure = account.verdict?.confidence === 'certain' && account.gaps.length === 0;
  return isSure ? wrong : 'less, and says so';
}
