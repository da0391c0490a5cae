/** A store as its users see it: opened directly (`local-store.ts`), or through a service (`service/remote-store.ts`). */
import type { CountedStarts, ProgramOf } from '../bundle/keep/starts.ts';
import type { Keys } from '../bundle/read/age.ts';
import type { Decision, Issue, IssueStory, Reprocessed, SentBundle } from '../model/fleet/issue.ts';
import type { ListOptions, ShowOptions } from './issues.ts';

export interface FoundBundle {
  /** A file; of a remote store a copy that `close` removes. */
  path: string;
  name: string;
  issue: string;
  /** ISO 8601 UTC. */
  at: string;
}

export interface SendAllOptions {
  keys?: Keys;
  programOf?: ProgramOf;
  onSent?: (sent: SentBundle) => void;
}

/** A store that fails at more bundles of one `send` than these is not asked for the rest. */
export const mostFailures = 3;

/** Every function throws `unwritable` if the store is not available. */
export interface FleetStore {
  /** A name to show to users, without a password. */
  readonly place: string;
  /** In their order; `onSent` is told of each one, also if a later one fails. */
  send(paths: readonly string[], options?: SendAllOptions): Promise<SentBundle[]>;
  /** What a dump folder has counted: each row replaces what was told of its log and program before. */
  countStarts(starts: readonly CountedStarts[]): Promise<void>;
  /** After bundles were sent: retention and alerts. `note` is told of an alert that could not be posted. */
  settle(sent: readonly SentBundle[], note: (sentence: string) => void): Promise<void>;
  list(options?: ListOptions): Promise<Issue[]>;
  /** The number of deaths that older rules have grouped. */
  countOutdated(): Promise<number>;
  /** Throws `not-found`, and `usage` for an ambiguous prefix. */
  show(id: string, options?: ShowOptions): Promise<IssueStory>;
  /** Returns the issue; for `split` all of them. Throws like `show`. */
  decide(decision: Decision): Promise<string[]>;
  reprocess(options?: { keys?: Keys }): Promise<Reprocessed>;
  /** Copies a bundle to a new file, and returns its path. Throws `not-found`, `usage`. */
  fetch(bundle: string, output?: string): Promise<string>;
  /** Undefined if there is no such death, or its bundle was removed. */
  find(bundle: string): Promise<FoundBundle | undefined>;
  close(): Promise<void>;
}
