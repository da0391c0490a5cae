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
  /** The redacted command, if the caller is the parent; replaces that of the session. */
  command?: string[];
  /** Encrypts the bundle as an age file. */
  lock?: Lock;
  /** The kernel's core, reduced. */
  core?: CorePart;
  /** Why the kernel's core is not in the bundle. */
  coreGap?: string;
  heap?: DeadHeap;
  /** Id of the session whose private folder has Node's fatal report. Default: this session. */
  diagnosticsOf?: string;
  /** Additional redacted parts by name, from the caller. */
  more?: Record<string, unknown>;
}

export type FinishResult =
  | { outcome: 'sealed'; path: string; verdictKind: string; id: string }
  /** There was nothing to explain, or it was explained already. The session has been removed. */
  | { outcome: 'cleared'; bundle?: string }
  /** It is alive, may be alive on another machine, or is being finished by another process. */
  | { outcome: 'left'; because: string };
