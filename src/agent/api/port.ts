/**
 * What the preload provides to the explicit API. The two are separate instances of the same modules (a CommonJS file and an
 * ES module), possibly of different releases. They therefore share only this small contract, as a member of the host object
 * of context.ts.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { AgentEventData, AgentEventKind } from '../../journal/layout/agent.ts';
import type { FrameworkRecorder } from '../integrations/framework.ts';
import type { ProgressOptions } from '../record/progress-watch.ts';
import type { AgentScope } from '../record/scope.ts';
import type { TappedCalls } from '../record/tapped-calls.ts';

export type FrameworkPort = Pick<
  FrameworkRecorder,
  'scopeOf' | 'alias' | 'forget' | 'startRun' | 'endRun' | 'startStep' | 'endStep' | 'startTool' | 'endTool'
>;

/** What the preload provides to the explicit API. May only be extended by optional members. */
export interface AgentPort {
  /** Allocates a new id. */
  nextId(letter: string): string;
  /** Records an event. `facts` come from this package, `content` from the host. */
  record<Kind extends AgentEventKind>(
    kind: Kind,
    facts: Partial<AgentEventData[Kind]>,
    content?: Partial<AgentEventData[Kind]>,
  ): void;
  /** Records what a framework reports, under the framework's own keys; `source` is its name in the events. */
  framework?(source: string): FrameworkPort;
  /** The model calls that the taps have seen. */
  readonly tapped?: Pick<TappedCalls, 'count' | 'claim'>;
  /** The scope of the calling code: the innermost one found in the storage and in the contexts of the frameworks. */
  readonly scope?: AgentScope;
  /** The storage in which taps and integrations look up the current run and step. */
  readonly storage: AsyncLocalStorage<AgentScope>;
  /** Watches for a lack of progress. Returns a function that stops the watch. */
  expectProgress?(ms: number, options?: ProgressOptions): () => void;
}
