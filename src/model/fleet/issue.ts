/** A fault of the fleet: deaths of one signature, or of several that a person has merged. Times are ISO 8601 UTC. */
import type { VerdictKind } from '../verdict.ts';

/** The order in which they are listed. */
export const issueStatuses = ['regressed', 'new', 'ongoing', 'resolved', 'ignored'] as const;
export type IssueStatus = (typeof issueStatuses)[number];

export interface Issue {
  /** Sixteen hexadecimal digits: its first signature. */
  id: string;
  title: string;
  kind: VerdictKind | 'sealed';
  count: number;
  firstSeen: string;
  lastSeen: string;
  firstRelease?: string;
  lastRelease?: string;
  status: IssueStatus;
  /** Why these deaths are one issue. */
  because: string;
}

export interface IssueSignature {
  id: string;
  version: number;
  parts: string[];
  count: number;
}

export interface Counted {
  name: string;
  count: number;
}

/** Of one release; without `release` those of which it is not known. */
export interface ReleaseCount {
  release?: string;
  count: number;
  firstSeen: string;
  lastSeen: string;
}

export interface StoredDeath {
  /** Id of the bundle; of one that is encrypted and was not opened, one made of its bytes. */
  bundle: string;
  at: string;
  program?: string;
  host?: string;
  nodeVersion?: string;
  release?: string;
  commit?: string;
  environment?: string;
  agent?: string;
  /** Where the store keeps it; absent where retention removed it. */
  path?: string;
  bytes: number;
}

export interface IssueStory extends Issue {
  signatures: IssueSignature[];
  resolved?: { at: string; release?: string };
  /** How many are kept; `count` has also the deaths whose bundle was removed, and those that a program counted and wrote none of. */
  bundles: number;
  /** Runs of an agent that were at work in these deaths. */
  runs: number;
  /** Hours in which it was seen, the oldest first. */
  hours: { hour: string; count: number }[];
  releases: ReleaseCount[];
  programs: Counted[];
  hosts: Counted[];
  nodeVersions: Counted[];
  environments: Counted[];
  agents: Counted[];
  /** Those whose bundle is there before the others, the newest first, so many as were asked for. */
  deaths: StoredDeath[];
}

/** What new signature rules made of what a store has. */
export interface Reprocessed {
  /** That rules before these had grouped. */
  deaths: number;
  /** Of them those that stay as they were: their bundles are gone, encrypted or damaged. */
  unreadable: number;
  issuesBefore: number;
  issuesAfter: number;
}

/** What became of one bundle that was to be sent. */
export interface SentBundle {
  path: string;
  outcome: 'stored' | 'there' | 'refused';
  bundle?: string;
  issue?: string;
  /** Why it was refused. */
  because?: string;
}
