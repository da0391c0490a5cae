/** `agent.json`: what the host provides through `agent.set` and `agent.provide`, read now. */
import { findHost } from '../../agent/api/context.ts';
import { type AgentPart, partNames } from '../../bundle/layout/bundle.ts';
import { uproot, withCanary } from '../fatal-path/canary.ts';
import { runWithDeadline } from '../host/deadline.ts';
import type { PartProducer } from './part.ts';

const providerLimitMs = 100;

export const agentPart: PartProducer = {
  name: partNames.agent,
  isVital: true,
  canaryPlace: {
    plant(part: AgentPart) {
      part.state = withCanary(part.state);
    },
    uproot: (copy: AgentPart) => uproot(copy.state),
  },
  produce(): AgentPart | undefined {
    const host = findHost();
    if (!host || host.state.size + host.providers.size === 0) return undefined;
    const part: AgentPart = { state: Object.fromEntries(host.state), providers: {} };
    for (const [name, read] of host.providers) part.providers[name] = callProvider(read);
    return part;
  },
};

function callProvider(read: () => unknown): AgentPart['providers'][string] {
  const startedAt = performance.now();
  const outcome = (): { value?: unknown; gap?: string } => {
    try {
      const value = runWithDeadline(providerLimitMs, read);
      return value instanceof Promise
        ? { gap: 'the provider is asynchronous, and a dying process cannot wait for it' }
        : { value };
    } catch (error) {
      return { gap: `the provider failed: ${error instanceof Error ? error.message : String(error)}` };
    }
  };
  return { ...outcome(), tookMs: Math.round((performance.now() - startedAt) * 10) / 10 };
}
