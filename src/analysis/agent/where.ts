/**
 * Finds the first change after which an expression over an agent's state is true. The language is CEL (Google's Common
 * Expression Language, cel.dev): it has no loops, no side effects and no access to the host, and every expression terminates.
 * All changes are checked in order; a binary search doesn't work, since an expression may become true and false several
 * times.
 */
import { TypeError as CelTypeError, Environment, ParseError } from '@marcbachmann/cel-js';
import { AgentdumpError } from '../../errors.ts';
import type { WhereAnswer } from '../../model/agent-points.ts';
import { findAtPointer } from '../../model/json-patch.ts';
import type { AgentEvents } from './events.ts';
import { type Mutation, type RunView, readMutations } from './state-log.ts';

const longestExpression = 4000;
/** CEL specifies RE2 patterns, which run in linear time; JavaScript's patterns may backtrack exponentially. */
const patternCall = /\bmatches\s*\(/;

/** Throws `usage` if the expression is invalid. */
export function findWhere({ events, at }: AgentEvents, expression: string): WhereAnswer {
  const holds = compile(expression);
  const previous = new Map<string, RunView>();
  let [mutations, failed] = [0, 0];
  let firstFault: string | undefined;
  for (const mutation of readMutations(events)) {
    mutations += 1;
    const { view } = mutation;
    const answer = holds(view);
    if (answer.holds)
      return { ...found(mutation, previous.get(view.run.id), at), expression, mutations, failed };
    if (answer.fault !== undefined) {
      failed += 1;
      firstFault ??= answer.fault;
    }
    previous.set(view.run.id, view);
  }
  return { expression, mutations, failed, ...(firstFault !== undefined && { fault: firstFault }) };
}

type Holds = (view: RunView) => { holds: boolean; fault?: string };

function compile(expression: string): Holds {
  if (expression.length > longestExpression)
    throw new AgentdumpError('usage', '--where is too long an expression', { argument: 'where' });
  if (patternCall.test(expression))
    throw new AgentdumpError('usage', '--where has no matches(): use contains, startsWith or endsWith', {
      argument: 'where',
    });
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    limits: { maxDepth: 100, maxAstNodes: 2000 },
  });
  const evaluate = parse(environment, expression);
  const values = new CelValues();
  return (view) => {
    try {
      return { holds: evaluate(values.of(view) as Record<string, unknown>) === true };
    } catch (error) {
      return { holds: false, fault: firstLineOf(error) };
    }
  };
}

function parse(environment: Environment, expression: string) {
  try {
    return environment.parse(expression);
  } catch (error) {
    if (!(error instanceof ParseError || error instanceof CelTypeError)) throw error;
    throw new AgentdumpError(
      'usage',
      `--where is no CEL expression: ${firstLineOf(error)}`,
      { argument: 'where' },
      error,
    );
  }
}

/**
 * Converts JSON to CEL values: integers become bigint, CEL's int in this library, so that `state.turn % 2 == 0` works. Parts
 * shared by two states are converted once.
 */
class CelValues {
  readonly #made = new WeakMap<object, unknown>();

  of(value: unknown): unknown {
    if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#made.get(value);
    if (known !== undefined) return known;
    // The recursion is as deep as an event, and the sink and the JSON reader limit that depth.
    const made = Array.isArray(value)
      ? value.map((item) => this.of(item))
      : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.of(item)]));
    this.#made.set(value, made);
    return made;
  }
}

function found(
  { event, view }: Mutation,
  before: RunView | undefined,
  at: number,
): Pick<WhereAnswer, 'found'> {
  const { run, step, tool } = event as { run?: string; step?: string; tool?: string };
  const operations = event.kind === 'state' ? event.operations : [];
  return {
    found: {
      seq: event.seq,
      at: new Date(event.at).toISOString(),
      beforeEndMs: at - event.at,
      kind: event.kind,
      runName: view.run.name || view.run.id,
      ...(run !== undefined && { runId: run }),
      ...(step !== undefined && { stepId: step }),
      ...(tool !== undefined && { toolId: tool }),
      changes: operations.slice(0, 50).map(({ op, path }) => ({
        op,
        path,
        ...valueAt('before', before?.state, path),
        ...valueAt('after', view.state, path),
      })),
    },
  };
}

function valueAt<Name extends string>(name: Name, state: unknown, path: string): { [Key in Name]?: unknown } {
  try {
    const value = findAtPointer(state, path);
    return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: unknown };
  } catch {
    return {};
  }
}

function firstLineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
