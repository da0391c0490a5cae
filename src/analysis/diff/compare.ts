/**
 * Compares two lists of facts. Against several others, a value counts as changed if none of them has it, a number if it is
 * outside of their range. Measured numbers differ from run to run, so they must differ by more than noise. Pure.
 */
import { type DiffChange, type DiffSection, type DiffValue, diffSections } from '../../model/diff.ts';
import type { Fact, Facts, SectionFacts } from './facts.ts';

/** The minimum difference of a measured number: both this share of the larger one and this amount. */
const noise = {
  bytes: { share: 0.2, amount: 1 << 20 },
  ms: { share: 0.5, amount: 1000 },
  count: { share: 0, amount: 0 },
} as const;

/** Sections whose byte values are settings: any difference counts. */
const settings = new Set<DiffSection>(['limits']);

export interface Compared {
  changes: DiffChange[];
  alike: DiffSection[];
  notCompared: { section: DiffSection; reason: string }[];
}

export function compareFacts(before: readonly Facts[], after: Facts): Compared {
  const compared: Compared = { changes: [], alike: [], notCompared: [] };
  for (const section of diffSections) {
    if (section === 'frames') continue;
    const others = before.flatMap((facts) => facts[section] ?? []);
    const own = after[section];
    if (!own || !others.length) {
      const silent = [others.length ? undefined : 'before', own ? undefined : 'after'].filter(Boolean);
      compared.notCompared.push({ section, reason: `nothing of it is told by ${silent.join(' and ')}` });
      continue;
    }
    const changes = compareSection(section, others, own);
    if (changes.length) compared.changes.push(...changes);
    else compared.alike.push(section);
  }
  return compared;
}

function compareSection(
  section: DiffSection,
  before: readonly SectionFacts[],
  after: SectionFacts,
): DiffChange[] {
  const subjects = new Set([...after.keys(), ...before.flatMap((facts) => [...facts.keys()])]);
  return [...subjects].flatMap((subject) => {
    const others = before.map((facts) => facts.get(subject));
    const change = compareOne(others, after.get(subject), settings.has(section));
    return change ? [{ section, subject, ...change }] : [];
  });
}

/** A bundle lists only the largest values, so a small one may exist on the other side too. */
const isSmall = (fact: Fact | undefined) => fact?.unit === 'bytes' && Number(fact.value) < noise.bytes.amount;

type Change = Omit<DiffChange, 'section' | 'subject'>;

function compareOne(
  others: readonly (Fact | undefined)[],
  own: Fact | undefined,
  isSetting: boolean,
): Change | undefined {
  const known = others.filter((fact) => fact !== undefined);
  if ((!own || !known.length) && !isSetting && isSmall(own ?? known[0])) return undefined;
  if (!own) {
    // If only some of the others have it, its absence here means nothing.
    if (known.length < others.length) return undefined;
    return { change: 'removed', before: distinct(known), ...unitOf(known[0]) };
  }
  if (!known.length) return { change: 'added', after: own.value, ...unitOf(own) };
  const change = isSetting ? exactly(known, own) : compareValues(known, own);
  return change && { change, before: distinct(known), after: own.value, ...unitOf(own) };
}

function compareValues(known: readonly Fact[], own: Fact): DiffChange['change'] | undefined {
  const { value, unit } = own;
  const numbers = known.flatMap((fact) => (typeof fact.value === 'number' ? [fact.value] : []));
  if (typeof value !== 'number' || !unit || numbers.length < known.length) return exactly(known, own);
  const highest = Math.max(...numbers);
  const lowest = Math.min(...numbers);
  if (value > highest && isMore(value, highest, unit)) return 'grew';
  return value < lowest && isMore(lowest, value, unit) ? 'shrank' : undefined;
}

function exactly(known: readonly Fact[], own: Fact): 'changed' | undefined {
  return known.some(({ value }) => value === own.value) ? undefined : 'changed';
}

function isMore(larger: number, smaller: number, unit: keyof typeof noise): boolean {
  const { share, amount } = noise[unit];
  return larger - smaller > amount && larger - smaller > larger * share;
}

const unitOf = (fact: Fact | undefined) => (fact?.unit ? { unit: fact.unit } : {});

/** One value, or all of them with the most frequent first. */
function distinct(facts: readonly Fact[]): DiffValue | DiffValue[] {
  const counts = new Map<DiffValue, number>();
  for (const { value } of facts) counts.set(value, (counts.get(value) ?? 0) + 1);
  const values = [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
  return values.length === 1 ? (values[0] as DiffValue) : values;
}
