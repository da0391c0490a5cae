/**
 * The state of each run after each of its changes, one at a time, for queries about the past. Consecutive states share
 * unchanged parts, so a long log costs little memory.
 */
import type { AgentEvent } from '../../journal/layout/agent.ts';
import { applyPatch } from '../../model/json-patch.ts';

/** The variables that an expression may use. */
export interface RunView {
  run: { id: string; name: string };
  state: unknown;
  plan: unknown;
  progress: unknown;
}

export interface Mutation {
  event: AgentEvent;
  view: RunView;
}

const programRun = 'implicit';

/** Every event that changed the state, plan or progress of a run, with the values after it. */
export function* readMutations(events: readonly AgentEvent[]): Generator<Mutation> {
  const views = new Map<string, RunView>();
  for (const event of events) {
    const change = changeOf(event);
    if (!change) continue;
    const id = (event as { run?: string }).run ?? programRun;
    const before = views.get(id) ?? { run: { id, name: '' }, state: {}, plan: null, progress: null };
    const view = change(before);
    views.set(id, view);
    yield { event, view };
  }
}

function changeOf(event: AgentEvent): ((view: RunView) => RunView) | undefined {
  switch (event.kind) {
    case 'run.start':
      return (view) => ({ ...view, run: { id: event.run, name: event.name ?? '' } });
    case 'state':
      return (view) => ({ ...view, state: patched(view.state, event.operations) });
    case 'plan':
      return (view) => ({ ...view, plan: event.plan ?? null });
    case 'progress': {
      const { done = null, total = null, note = null } = event;
      return (view) => ({ ...view, progress: { done, total, note } });
    }
  }
  return undefined;
}

type Operations = Extract<AgentEvent, { kind: 'state' }>['operations'];

/** A change that can't be applied, because earlier ones are lost, leaves the state unchanged. */
function patched(state: unknown, operations: Operations): unknown {
  try {
    return applyPatch(state, operations);
  } catch {
    return state;
  }
}
