/**
 * The state of each run after each of its changes, one at a time: what questions about the past are asked of. A change
 * shares what it did not touch with the state before, so a long log costs little.
 */
import type { AgentEvent } from '../../journal/layout/agent.ts';
import { applyPatch } from '../../model/json-patch.ts';

/** What an expression may name. */
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

/** Every event that changed state, plan or progress of a run, with what they were after it. */
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

/** A change that cannot be applied, because those before it are lost, leaves what is known. */
function patched(state: unknown, operations: Operations): unknown {
  try {
    return applyPatch(state, operations);
  } catch {
    return state;
  }
}
