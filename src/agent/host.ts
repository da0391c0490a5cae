/**
 * Where the preload and the public API meet: they are two instances of the same modules (one CommonJS file, one ES
 * module), perhaps of different releases, so they share one object under a registered symbol and a small contract.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { AgentEventData, AgentEventKind } from '../journal/layout-agent.ts';
import type { AgentScope } from './recorder.ts';

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
  /** The storage in which taps and integrations look for their run and step. */
  readonly storage: AsyncLocalStorage<AgentScope>;
}

export interface AgentdumpHost {
  agent?: AgentPort;
  [feature: string]: unknown;
}

const hostKey = Symbol.for('agentdump.host');
const globals = globalThis as unknown as Record<symbol, AgentdumpHost | undefined>;

/** The preload's object in this thread; undefined when there is no preload. */
export function findHost(): AgentdumpHost | undefined {
  return globals[hostKey];
}

/** The same, made when absent: for the preload. */
export function requireHost(): AgentdumpHost {
  const found = globals[hostKey];
  if (found) return found;
  const host: AgentdumpHost = {};
  Object.defineProperty(globalThis, hostKey, { value: host, enumerable: false, configurable: true });
  return host;
}
