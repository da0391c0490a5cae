/**
 * What a cause may look at: the account so far, and the parts behind it where the account says less. Everything is
 * optional; a cause that lacks what it needs says nothing.
 */
import type { ErrorPart } from '../../bundle/layout/bundle.ts';
import type { Account } from '../../model/account.ts';
import type { Frame } from '../../model/thread.ts';
import type { Verdict, VerdictKind } from '../../model/verdict.ts';
import type { TopLevelAwaits } from '../joins/suspended.ts';
import type { DriftFacts } from '../parts/code.ts';
import type { EvidenceFacts } from '../parts/evidence.ts';
import type { HandlesPartFacts, HeapProfileFacts, MemoryPartFacts } from '../parts/surroundings.ts';
import type { TriggerFacts } from '../parts/trigger.ts';

export interface VerdictFacts {
  account: Omit<Account, 'verdict' | 'signature'>;
  trigger?: TriggerFacts;
  /** typeof the thrown value, when it was no error. */
  thrownType?: string;
  /** Where the rejected promise was made or rejected. */
  promiseFrames?: Frame[];
  /** Of a TimeoutError: where the scripts on its stack call AbortSignal.timeout. */
  timeLimits?: Frame[];
  /** At an exit with code 13; absent where not all modules could be looked through. */
  topLevelAwaits?: TopLevelAwaits;
  /** The error was the value of an `error` event without a listener: what emitted it, and where. */
  emitter?: { className: string; path?: string; frames: Frame[] };
  /** Where a module ceases to be JavaScript, if the stack does not say it. */
  syntaxPlace?: ErrorPart['place'];
  drift?: DriftFacts;
  handles?: HandlesPartFacts;
  memory?: MemoryPartFacts;
  /** What a core of the process says of it. */
  core?: Verdict;
  heapProfile?: HeapProfileFacts;
  /** What others saw of the death. */
  evidence?: EvidenceFacts;
  /** What a diagnostic report names as its event, where that is all there is. */
  reportEvent?: string;
}

/** One way to explain a death. */
export interface Cause {
  kind: VerdictKind;
  /**
   * `mechanism`: how the process ended; `reason`: why it came to that. A reason that is at least likely is the
   * verdict; one that is merely possible stays behind the mechanism, as another reading.
   */
  layer: 'reason' | 'mechanism';
  /** undefined when the facts don't speak for it. Pure. */
  consider(facts: VerdictFacts): Verdict | undefined;
}
