/**
 * Whose work a call was, compared with the work that died: of the same request of the server, the same test, or the same run. All are
 * known from asynchronous contexts; without them nothing is said.
 */
import type { Account } from '../../model/account.ts';
import type { AgentRun, AgentState, ModelCall, ToolCall } from '../../model/agent-state.ts';
import { requestName } from '../../model/origin.ts';
import { clip } from '../../model/quantities.ts';
import { culpritTest } from '../../model/tests.ts';
import { everyError } from '../verdict/wording.ts';

/** The order in which the account reports what failed before the end. */
export const whoseOrder = ['own', 'unknown', 'others'] as const;
export type Whose = (typeof whoseOrder)[number];

const longestName = 60;

type Sources = Pick<Account, 'requests' | 'process' | 'agent'>;

export class DyingWork {
  readonly #request: NonNullable<Account['requests']>[number] | undefined;
  readonly #test: string | undefined;
  /** The run that died, those around it and those inside of it. */
  readonly #runs: ReadonlySet<string> | undefined;

  constructor({ requests, process, agent }: Sources) {
    this.#request = requests?.find(({ culprit }) => culprit);
    this.#test = culpritTest(process?.test);
    const { diedIn, runs = [] } = agent ?? {};
    if (diedIn?.from === 'context' && diedIn.runId !== undefined) this.#runs = related(diedIn.runId, runs);
  }

  /** It is known which request or test died. */
  get isOfOrigin(): boolean {
    return this.#request !== undefined || this.#test !== undefined;
  }

  whose(call: { serverRequest?: string; test?: string }, run?: Pick<AgentRun, 'id' | 'implicit'>): Whose {
    const { serverRequest, test } = call;
    if (this.#request && serverRequest !== undefined)
      return serverRequest === this.#request.id ? 'own' : 'others';
    if (!this.#request && this.#test !== undefined && test !== undefined)
      return test === this.#test ? 'own' : 'others';
    if (!this.#runs || !run || run.implicit) return 'unknown';
    return this.#runs.has(run.id) ? 'own' : 'others';
  }

  /** The end of a sentence about a call: `count` is the number of requests for which the same failed. */
  textFor(whose: Whose, run: Pick<AgentRun, 'id' | 'name'> | undefined, count = 1): string {
    if (whose === 'unknown') return '';
    if (whose === 'own') return this.#request ? `, for ${clip(requestName(this.#request), longestName)}` : '';
    const kind = this.#request ? 'request' : this.#test === undefined ? 'run' : 'test';
    if (kind === 'run') return `, in another run (${clip(run?.name ?? run?.id ?? '', longestName)})`;
    return count === 1 ? `, for another ${kind}` : `, for ${count} other ${kind}s`;
  }
}

function related(id: string, runs: readonly AgentRun[]): Set<string> {
  const parents = new Map(runs.map((run) => [run.id, run.parentId]));
  const around = (from: string): Set<string> => {
    const found = new Set<string>();
    for (let one: string | undefined = from; one !== undefined && !found.has(one); one = parents.get(one))
      found.add(one);
    return found;
  };
  const outer = around(id);
  for (const run of parents.keys()) if (around(run).has(id)) outer.add(run);
  return outer;
}

/**
 * Without calls that are known to belong to other requests or tests, unless the error itself refers to one of them: an error with the same
 * text is no reason to name another request's call as the cause.
 */
export function withoutOthersCalls(agent: AgentState, account: Sources & Pick<Account, 'error'>): AgentState {
  const dying = new DyingWork(account);
  if (!dying.isOfOrigin) return agent;
  const tied = new Set<unknown>(agent.diedOf?.map(({ id }) => id));
  const said = new Set(everyError(account.error).flatMap(({ properties = {} }) => Object.values(properties)));
  const mayMatter = (call: ModelCall | ToolCall, ids: unknown[]): boolean =>
    dying.whose(call) !== 'others' || ids.some((id) => id !== undefined && (tied.has(id) || said.has(id)));
  return {
    ...agent,
    runs: agent.runs.map((run) => ({
      ...run,
      modelCalls: run.modelCalls.filter((call) => mayMatter(call, [call.id, call.requestId])),
      toolCalls: run.toolCalls.filter((tool) => mayMatter(tool, [tool.eventId])),
    })),
  };
}
