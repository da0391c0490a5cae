/** `agent.json`, field by field: the state that the host program provided, and which providers failed. */
import type { Gap } from '../../model/verdict.ts';
import type { Fields } from './fields.ts';

export interface AgentPartFacts {
  /** By name: values that were set, and values returned by providers. */
  state: Record<string, unknown>;
  gaps: Gap[];
}

export function readAgent(part: Fields, partName: string): AgentPartFacts {
  const gaps: Gap[] = [];
  const state = part.object('state');
  const entries = (state?.names() ?? []).map((name): [string, unknown] => [name, state?.value(name)]);
  const providers = part.object('providers');
  for (const name of providers?.names() ?? []) {
    const provider = providers?.object(name);
    const gap = provider?.text('gap');
    if (gap !== undefined) gaps.push({ part: partName, reason: gap, lookedFor: name });
    const value = provider?.value('value');
    if (value !== undefined) entries.push([name, value]);
  }
  return { state: Object.fromEntries(entries), gaps };
}
