import type { Lock } from '../../bundle/write/age-key.ts';
import type { Witness } from '../evidence/evidence.ts';
import type { CorePart } from '../native/core-part.ts';

import type { Scrubber } from '../scrub/scrubber.ts';
import type { DeadHeap } from './dead-heap.ts';

export interface FinishOptions {
  /** The dump folder. */
  dir: string;
  /** The session's folder below it. */
  folder: string;
  witness: Witness;
  scrubber: Scrubber;
  /** The command as a parent knows it, redacted; instead of the session's. */
  command?: string[];
  /** With it the bundle is an age file. */
  lock?: Lock;
  /** The kernel's core, cut down. */
  core?: CorePart;
  /** Why there is none, although the kernel left one. */
  coreGap?: string;
  heap?: DeadHeap;
  /** Whose private folder holds Node's fatal report, when it is not this session's own. */
  diagnosticsOf?: string;
  /** Further parts that the caller knows, by name, redacted. */
  more?: Record<string, unknown>;
}

export type FinishResult =
  | { outcome: 'sealed'; path: string; verdictKind: string; id: string }
  /** There was nothing to explain, or it is explained already: the session is gone. */
  | { outcome: 'cleared'; bundle?: string }
  /** It lives, lives elsewhere perhaps, or somebody else is at it. */
  | { outcome: 'left'; because: string };
