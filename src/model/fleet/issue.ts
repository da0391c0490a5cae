/** A fault in a fleet: deaths with one signature, or with several that a person has merged. Times are ISO 8601 UTC. */
import type { VerdictKind } from '../verdict.ts';

/** In the order of listings. */
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
  /** Absent if none of its starts was counted. */
  rate?: Rate;
  /** The reason why these deaths are one issue. */
  because: string;
}

/** Deaths by start: of those programs whose starts were counted, all of their starts since a day. */
export interface Rate {
  deaths: number;
  starts: number;
  /** The day of the first of these starts: YYYY-MM-DD in UTC. */
  since: string;
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

/** What a list of names leaves out. */
export interface Unlisted {
  /** The number of further names. */
  names: number;
  /** Their deaths. */
  count: number;
  /** There may be more names: of a fault with more than a thousand, the further ones are only counted together. */
  isAtLeast?: true;
}

/** Deaths of one release, or, without `release`, those whose release is unknown. */
export interface ReleaseCount {
  release?: string;
  count: number;
  firstSeen: string;
  lastSeen: string;
}

/** The lists of an issue that count its deaths by name. */
export type NameList = 'programs' | 'hosts' | 'nodeVersions' | 'environments' | 'agents';

export interface StoredDeath {
  /** Id of the bundle; for an encrypted bundle that was not opened, an id derived from its bytes. */
  bundle: string;
  at: string;
  program?: string;
  host?: string;
  nodeVersion?: string;
  release?: string;
  commit?: string;
  environment?: string;
  agent?: string;
  /** Path in the store; absent if retention removed it. */
  path?: string;
  bytes: number;
}

export interface IssueStory extends Issue {
  signatures: IssueSignature[];
  resolved?: { at: string; release?: string };
  /**
   * Number of stored bundles. `count` also includes deaths whose bundle was removed, and deaths that a program counted
   * without writing a bundle.
   */
  bundles: number;
  /** Number of agent runs that were active in these deaths. */
  runs: number;
  /** Hours in which it occurred, oldest first. */
  hours: { hour: string; count: number }[];
  releases: ReleaseCount[];
  programs: Counted[];
  hosts: Counted[];
  nodeVersions: Counted[];
  environments: Counted[];
  agents: Counted[];
  /** By the lists above that name only the most frequent ones. */
  unlisted?: { [List in NameList]?: Unlisted };
  /** At most as many as requested: first those with a stored bundle, newest first. */
  deaths: StoredDeath[];
}

/** The result of applying new signature rules to a store. */
export interface Reprocessed {
  /** Number of deaths that were grouped with earlier rules. */
  deaths: number;
  /** Number of those that remain unchanged, because their bundles are removed, encrypted or damaged. */
  unreadable: number;
  issuesBefore: number;
  issuesAfter: number;
}

/** What a store did with a bundle. */
export interface SendOutcome {
  outcome: 'stored' | 'there' | 'refused';
  bundle?: string;
  issue?: string;
  /** The reason for a refusal; of a death that was stored without its bundle, the reason for that. */
  because?: string;
}

/** The result of sending one bundle. */
export interface SentBundle extends SendOutcome {
  path: string;
}

/** What a person decides about an issue. Ids may be shortened. */
export type Decision =
  | { action: 'resolve'; id: string; release?: string }
  | { action: 'ignore' | 'reopen' | 'split'; id: string }
  | { action: 'merge'; id: string; others: readonly string[] };
