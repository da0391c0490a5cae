/**
 * Which bundles may go first, from their names and the log of signatures alone: no bundle is opened, since one may be
 * encrypted, torn or hostile, and a dying process has no time. What repeats another goes before the first and the last
 * of each signature, an exit or a snapshot before a signal, that before a crash, a hang or a lack of memory, and of equals
 * the oldest.
 */
import { readBundleName } from '../write/bundle-name.ts';
import { readSignatures } from './signature-log.ts';

const plainEnd = /(?:^|-)(?:exit|snapshot)$/;
const pendingExit = /(?:^|-)pending-exit$/;
const signalEnd = /(?:^|-)terminated$/;

/** 0 for what goes first. */
function rankOf(words: string): number {
  if (plainEnd.test(words) && !pendingExit.test(words)) return 0;
  return signalEnd.test(words) ? 1 : 2;
}

/** `names` of bundles, oldest first; the same, with what may go first in front. */
export function leastWorthFirst(dir: string, names: readonly string[]): string[] {
  const signatures = readSignatures(dir);
  const described = names.map((name, index) => {
    const { words = '', shortId = '' } = readBundleName(name) ?? {};
    return { name, index, rank: rankOf(words), signature: signatures.get(shortId) ?? words };
  });
  const first = new Map<string, number>();
  const last = new Map<string, number>();
  for (const { signature, index } of described) {
    if (!first.has(signature)) first.set(signature, index);
    last.set(signature, index);
  }
  const worthOf = ({
    signature,
    index,
    rank,
  }: (typeof described)[number]): [number, number, number, number] => {
    const isFirst = first.get(signature) === index;
    const isLast = last.get(signature) === index;
    // Where firsts and lasts are too many, one of a pair goes before what is alone: the older one, as of all equals.
    return [isFirst || isLast ? 1 : 0, rank, isLast ? 1 : 0, index];
  };
  const worths = new Map(described.map((one) => [one.name, worthOf(one)]));
  const compare = (a: string, b: string): number => {
    const [one = [], other = []] = [worths.get(a), worths.get(b)];
    const at = one.findIndex((value, i) => value !== other[i]);
    return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
  };
  return [...names].sort(compare);
}
