/**
 * Ranks bundles for removal by their names and the signature log alone. No bundle is opened: it may be encrypted, torn or
 * hostile, and a dying process has no time. Repeats are removed before the first and last bundle of each signature; exits
 * and snapshots before signals, signals before crashes, hangs and out of memory; and the oldest of equals first.
 */
import { readBundleName } from '../write/bundle-name.ts';
import { readSignatures } from './signature-log.ts';

const plainEnd = /(?:^|-)(?:exit|snapshot)$/;
const pendingExit = /(?:^|-)pending-exit$/;
const signalEnd = /(?:^|-)terminated$/;

/** 0 is removed first. */
function rankOf(words: string): number {
  if (plainEnd.test(words) && !pendingExit.test(words)) return 0;
  return signalEnd.test(words) ? 1 : 2;
}

/** `names` are sorted oldest first. Returns them with the least valuable first. */
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
    // Among first and last bundles, one of a pair is removed before a single one, and the older one of the pair first.
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
