/** Installs an agent port where the explicit API looks for it, as the preload does. */
import { type Host, installHost } from '../../../src/agent/api/context.ts';
import type { AgentPort } from '../../../src/agent/api/port.ts';

/** Returns a function that uninstalls it. */
export function provideAgentPort(agent: AgentPort): () => void {
  const nothing = () => undefined;
  const host: Host = {
    version: '0.0.0',
    state: new Map(),
    providers: new Map(),
    agent,
    withhold: nothing,
    dump: nothing,
    uninstall: nothing,
  };
  return installHost(host);
}
