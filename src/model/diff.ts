/**
 * The differences between two bundles, or between a bundle and a baseline: the JSON document `agentdump.diff/1`. `before` is
 * the first bundle or the baseline, `after` the bundle in question. Values are texts for comparison by people; sizes and
 * counts are numbers, with the unit in the name. Every field may be absent, except for those that are marked.
 */
import type { VerdictKind } from './verdict.ts';

export const diffSchema = 'agentdump.diff/1';

/** In the order of their explanatory value. */
export const diffSections = [
  'verdict',
  'error',
  'frames',
  'packages',
  'node',
  'argv',
  'environment',
  'limits',
  'memory',
  'handles',
  'agent',
  'config',
] as const;
export type DiffSection = (typeof diffSections)[number];

export interface BundleDiff {
  schema: typeof diffSchema;
  before: DiffSide[];
  after: DiffSide;
  /** Both have the same signature; absent where one has none. */
  sameSignature?: boolean;
  /** Differences that are known to matter, the strongest first; each says on which rows it stands. */
  leads: DiffLead[];
  changes: DiffChange[];
  /** Where the conversations part. */
  fork?: ConversationFork;
  /** Compared, and nothing differs. */
  alike: DiffSection[];
  /** One side or both do not tell. */
  notCompared: { section: DiffSection; reason: string }[];
  gaps: { bundle: string; part: string; reason: string }[];
}

export interface DiffSide {
  id: string;
  path: string;
  capturedAt?: string;
  verdict?: VerdictKind;
  title?: string;
  signature?: string;
}

export type DiffValue = string | number;

export interface DiffChange {
  section: DiffSection;
  /** What it is about: a package's name, a variable's, a field's. */
  subject: string;
  change: 'added' | 'removed' | 'changed' | 'grew' | 'shrank';
  /** Absent for `added`. With a baseline of several: the different values, the commonest first. */
  before?: DiffValue | DiffValue[];
  /** Absent for `removed`. */
  after?: DiffValue;
  /** How `before` and `after` are to be read, where they are numbers. */
  unit?: 'bytes' | 'ms' | 'count';
}

export interface DiffLead {
  /** One sentence. */
  fact: string;
  section: DiffSection;
  subject: string;
}

/** 0-based index of the first message that differs; ids are not compared. */
export interface ConversationFork {
  index: number;
  before?: { role: string; text: string };
  after?: { role: string; text: string };
}
