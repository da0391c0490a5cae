/** Conclusions: the cause, the reasons for it, and what is missing. No IO, independent of formats. */

/** All kinds of ends in accounts, in the order of the table of deaths. */
export const verdictKinds = [
  'uncaught-exception',
  'unhandled-rejection',
  'heap-out-of-memory',
  'system-out-of-memory',
  'event-loop-hang',
  'no-progress',
  'native-crash',
  'abort',
  'killed',
  'terminated',
  'dependency-drift',
  'resource-exhaustion',
  'startup-failure',
  'worker-death',
  'exit',
  'pending-exit',
  'snapshot',
  'unknown',
] as const;
export type VerdictKind = (typeof verdictKinds)[number];

export interface VerdictTraits {
  /** asked: the process was stopped or inspected deliberately; death: something is broken. */
  nature: 'death' | 'asked' | 'unknown';
  /** The end was caused by something other than the program's own code. */
  isFromOutside?: true;
}

const traits: Record<VerdictKind, VerdictTraits> = {
  'uncaught-exception': { nature: 'death' },
  'unhandled-rejection': { nature: 'death' },
  'heap-out-of-memory': { nature: 'death' },
  'system-out-of-memory': { nature: 'death', isFromOutside: true },
  'event-loop-hang': { nature: 'death' },
  'no-progress': { nature: 'death', isFromOutside: true },
  'native-crash': { nature: 'death' },
  abort: { nature: 'death' },
  killed: { nature: 'death', isFromOutside: true },
  terminated: { nature: 'asked', isFromOutside: true },
  'dependency-drift': { nature: 'death' },
  'resource-exhaustion': { nature: 'death' },
  'startup-failure': { nature: 'death' },
  'worker-death': { nature: 'death' },
  exit: { nature: 'death' },
  'pending-exit': { nature: 'death' },
  snapshot: { nature: 'asked' },
  unknown: { nature: 'unknown' },
};

/**
 * The properties of a kind that matter wherever it is shown or used. An account from another writer may contain any text as
 * its kind.
 */
export function traitsOf(kind: string): VerdictTraits {
  return Object.hasOwn(traits, kind) ? traits[kind as VerdictKind] : traits.unknown;
}

/** certain: the facts admit nothing else; likely: one step of inference; possible: one of several readings. */
export type Confidence = 'certain' | 'likely' | 'possible';

export interface Evidence {
  /** One sentence, with the figure or the text itself. */
  fact: string;
  /** The bundle part that shows it. */
  part: string;
}

/** A verdict in one line. */
export interface VerdictHead {
  kind: VerdictKind;
  /** At most 100 characters: what a person would say first. */
  title: string;
  confidence: Confidence;
}

/** The code that a person would open first. Lines and columns are 1-based, after source maps. */
export interface VerdictPlace {
  function?: string;
  file: string;
  line?: number;
  column?: number;
}

export interface Verdict extends VerdictHead {
  /** Where it died, hangs or waits; absent where no frame shows it. */
  place?: VerdictPlace;
  /** One to three sentences. */
  summary: string;
  evidence: Evidence[];
  /** What failed shortly before and is not proven to be the cause, the newest first. */
  beforeEnd?: Evidence[];
  /** What, if seen, would show that this verdict is wrong. */
  refutedBy: string;
  nextSteps: string[];
  /** Other reasons that some of the facts speak for. */
  alternatives?: VerdictHead[];
}

/** Something that was looked for and is absent, torn, withheld or over a limit. */
export interface Gap {
  part: string;
  reason: string;
  lookedFor?: string;
}
