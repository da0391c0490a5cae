/**
 * Open work that may have been abandoned: the run, step or tool call around it has ended, or the model was given another
 * result in its place. Whether anything still waits for it is unknown.
 */
import type { AgentEvent } from '../../../journal/layout/agent.ts';
import { stepText } from '../../../model/tool-text.ts';

interface Around {
  run?: string;
  step?: string;
  tool?: string;
}

interface Begun {
  /** `step plan`. */
  called: string;
  around: string | undefined;
  endedAt?: number;
}

/** The innermost enclosing scope that had ended, and how long before `at`. */
export interface EndedScope {
  called: string;
  beforeEndMs: number;
}

export class Scopes {
  readonly #begun = new Map<string, Begun>();
  readonly #at: number;

  constructor(events: readonly AgentEvent[], at: number) {
    this.#at = at;
    for (const event of events) this.#add(event);
  }

  /** `id`: the recorder's id of a run, step, tool call, model call or wait. Undefined if no scope around it had ended. */
  endedAround(id: string): EndedScope | undefined {
    const seen = new Set<string>();
    for (
      let at = this.#begun.get(id)?.around;
      at !== undefined && !seen.has(at);
      at = this.#begun.get(at)?.around
    ) {
      seen.add(at);
      const { called = '', endedAt } = this.#begun.get(at) ?? {};
      if (endedAt !== undefined) return { called, beforeEndMs: Math.max(0, this.#at - endedAt) };
    }
    return undefined;
  }

  #add(event: AgentEvent): void {
    switch (event.kind) {
      case 'run.start':
        this.#begin(event.run, `run ${nameOf(event.name, event.run)}`, event.parent);
        return;
      case 'step.start':
        this.#begin(event.id, stepText(nameOf(event.name, event.id)), innermost(event));
        return;
      case 'tool.start':
        this.#begin(event.id, `tool ${nameOf(event.name, event.id)}`, innermost(event));
        return;
      case 'model.start':
        this.#begin(event.call, 'model call', innermost(event));
        return;
      case 'wait.start':
        this.#begin(event.wait, 'wait', innermost(event));
        return;
      case 'run.end':
        this.#end(event.run, event.at);
        return;
      case 'step.end':
      case 'tool.end':
        this.#end(event.id, event.at);
    }
  }

  #begin(id: string, called: string, around: string | undefined): void {
    this.#begun.set(id, { called, around });
  }

  #end(id: string, at: number): void {
    const begun = this.#begun.get(id);
    if (begun) begun.endedAt = at;
  }
}

const innermost = ({ run, step, tool }: Around): string | undefined => tool ?? step ?? run;

/** Event fields may have any type. */
const nameOf = (name: unknown, id: string): string => (typeof name === 'string' ? name : id);
