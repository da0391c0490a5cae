/**
 * The input of the causes: the account so far, and the parts behind it where the account has less detail. Everything is
 * optional; a cause returns undefined if it lacks what it needs.
 */
import type { ErrorPart } from '../../bundle/layout/bundle.ts';
import type { Account, ErrorFacts } from '../../model/account.ts';
import type { Frame } from '../../model/thread.ts';
import type { Verdict, VerdictKind } from '../../model/verdict.ts';
import type { PrintedError } from '../joins/printed-error.ts';
import type { StartedCalls } from '../joins/started-calls.ts';
import type { PassedBy, TopLevelAwaits } from '../joins/suspended.ts';
import type { ThrownPlaces } from '../joins/thrown-value.ts';
import type { DriftFacts } from '../parts/code.ts';
import type { EvidenceFacts } from '../parts/evidence.ts';
import type { HandlesPartFacts, HeapProfileFacts, MemoryPartFacts } from '../parts/surroundings.ts';
import type { TriggerFacts } from '../parts/trigger.ts';

export interface VerdictFacts {
  account: Omit<Account, 'verdict' | 'signature'>;
  trigger?: TriggerFacts;
  /** `typeof` the thrown value, if it was not an error. */
  thrownType?: string;
  /** If it was not an error: the code whose text gives that value. */
  thrownAt?: ThrownPlaces;
  /** If the program ended itself: the last error that it printed. */
  printed?: PrintedError;
  /** If the program ended itself: where it had told a server to listen that could not. */
  listenFrames?: Frame[];
  /** For an error of an abort: the reasons of other aborts in the process, one of which it may stand for. */
  abortReasons?: ErrorFacts[];
  /** Where the program's listeners for the event are defined. */
  handlerFrames?: Frame[];
  /** Where the rejected promise was created or rejected. */
  promiseFrames?: Frame[];
  /** For a TimeoutError: the calls of AbortSignal.timeout in the scripts on its stack. */
  timeLimits?: Frame[];
  /** For a worker that ran out of memory: the calls of `new Worker` in the program's scripts. */
  workerStarts?: Frame[];
  /** For an error without a frame of the program: the calls that can have started what failed. */
  startedCalls?: StartedCalls;
  /** For an error without a frame of the program that ended a module's evaluation: the top-level awaits, one of which passed it on. */
  passedAt?: Frame[];
  /** Below the only one: the awaits of the program's functions that have no other, from the outside in. */
  passedThrough?: Frame[];
  /** How the only one was chosen from several. */
  passedBy?: PassedBy;
  /** For an exit with code 13; absent if some modules couldn't be searched. */
  topLevelAwaits?: TopLevelAwaits;
  /** The descriptor of the standard stream to which the last write failed with the code of the error. */
  failedStdio?: number;
  /** If the error was emitted as an `error` event without a listener: the emitter and the stack. */
  emitter?: { className: string; path?: string; stdio?: number; frames: Frame[]; worker?: WorkerOfError };
  /** Where the syntax error is, if the stack doesn't include it. */
  syntaxPlace?: ErrorPart['place'];
  drift?: DriftFacts;
  handles?: HandlesPartFacts;
  memory?: MemoryPartFacts;
  /** The verdict from a core of the process. */
  core?: Verdict;
  heapProfile?: HeapProfileFacts;
  /** What other processes observed of the death. */
  evidence?: EvidenceFacts;
  /** The event named by a diagnostic report, if there is no other source. */
  reportEvent?: string;
}

export interface WorkerOfError {
  threadId: number;
  name?: string;
}

/** One possible explanation of a death. */
export interface Cause {
  kind: VerdictKind;
  /**
   * `mechanism`: how the process ended. `reason`: why it came to that. A reason that is at least likely becomes the verdict;
   * one that is only possible is listed as an alternative to the mechanism.
   */
  layer: 'reason' | 'mechanism';
  /** Undefined if the facts don't support it. Pure. */
  consider(facts: VerdictFacts): Verdict | undefined;
}
