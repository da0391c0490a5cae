/** What is concluded: the cause, why we think so, and what is missing. No IO, no formats. */

/** Every kind of end, as the account names it; the order is that of the table of deaths. */
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
