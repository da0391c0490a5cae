/** What was awaited at the death: promises that the host named, locks with their holders, approvals. */
import type { AgentEvent } from '../../../journal/layout/agent.ts';
import type { AgentWait } from '../../../model/agent-state.ts';

/** The waits that had not ended, with their runs. */
export function computeWaits(
  events: readonly AgentEvent[],
  at: number,
): { run: string | undefined; wait: AgentWait }[] {
  const open = new Map<string, Extract<AgentEvent, { kind: 'wait.start' }>>();
  const holders = new Map<string, Extract<AgentEvent, { kind: 'lock.held' }>>();
  for (const event of events) {
    if (event.kind === 'wait.start') open.set(event.wait, event);
    else if (event.kind === 'wait.end') open.delete(event.wait);
    else if (event.kind === 'lock.held') holders.set(event.lock, event);
    else if (event.kind === 'lock.released') holders.delete(event.lock);
  }
  const held = new Map([...holders.values()].map((event) => [event.name, event]));
  return [...open.values()].map((event) => {
    const wait: AgentWait = { kind: event.waitsFor, what: event.what, ageMs: at - event.at, id: event.wait };
    if (event.step !== undefined) wait.stepId = event.step;
    return { run: event.run, wait: { ...wait, ...holderOf(event.what, held) } };
  });
}

function holderOf(
  name: string,
  held: Map<string, Extract<AgentEvent, { kind: 'lock.held' }>>,
): { heldBy?: string } {
  const holder = held.get(name);
  const by = holder?.tool ?? holder?.step ?? holder?.run;
  return by === undefined ? {} : { heldBy: by };
}
