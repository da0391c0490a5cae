/**
 * How well deaths are grouped: how many of the pairs with the same fault are in one group, and how many of the pairs in one
 * group have the same fault.
 */
export interface Labelled {
  fault: string;
  variant: string;
  group: string;
}

export interface PairScore {
  precision: number;
  recall: number;
  pairs: number;
  wrong: [Labelled, Labelled][];
  missed: [Labelled, Labelled][];
}

export function scorePairs(deaths: readonly Labelled[]): PairScore {
  const wrong: [Labelled, Labelled][] = [];
  const missed: [Labelled, Labelled][] = [];
  let right = 0;
  for (const [index, one] of deaths.entries())
    for (const other of deaths.slice(index + 1)) {
      const isSame = one.fault === other.fault;
      const isTogether = one.group === other.group;
      if (isSame && isTogether) right++;
      else if (isSame) missed.push([one, other]);
      else if (isTogether) wrong.push([one, other]);
    }
  return {
    precision: right / (right + wrong.length),
    recall: right / (right + missed.length),
    pairs: right + missed.length,
    wrong,
    missed,
  };
}
