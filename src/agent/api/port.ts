/**
 * What the preload gives to the explicit API. They are two instances of the same modules (one CommonJS file, one ES
 * module), perhaps of different releases, so they share only this small contract, which hangs on the host object of
 * context.ts.
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

/** What the preload gives to the explicit API. Grows only by optional members. */
export interface AgentPort {
  /** A new id of ours. */
  nextId(letter: string): string;
  /** Records an event: `facts` are ours, `content` the host's. */
  record<Kind extends AgentEventKind>(
    kind: Kind,
    facts: Partial<AgentEventData[Kind]>,
    content?: Partial<AgentEventData[Kind]>,
  ): void;
  /** Records what a framework tells of, by the framework's own keys; `source` is its name in the events. */
  framework?(source: string): FrameworkPort;
  /** The model calls that the taps have seen. */
  readonly tapped?: Pick<TappedCalls, 'count' | 'claim'>;
  /** Where the calling code runs: in the innermost of what the storage and the frameworks' own contexts say. */
  readonly scope?: AgentScope;
  /** The storage in which taps and integrations look for their run and step. */
  readonly storage: AsyncLocalStorage<AgentScope>;
  /** Has a lack of progress noticed; returns the undoing. */
  expectProgress?(ms: number, options?: ProgressOptions): () => void;
}
