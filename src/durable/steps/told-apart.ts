/** Calls of one name that only time distinguishes: whether they can have been made one after the other, and the error if not. */
import { AgentdumpError } from '../../errors.ts';
import type { StepKind } from '../records/layout.ts';
import { type Captured, usesThis } from './captured/captured.ts';
import { joinPath, wordOf } from './step-path.ts';

/**
 * For a call that could be any of several recorded ones, or none of them. `kind`: as in `agent.<kind>(…)`. `shared`: variables in which
 * they differ, and that all of them share. `captured`: by this one.
 */
export function ambiguous(
  kind: string,
  name: string,
  scope: string,
  { shared = [], captured }: { shared?: readonly string[]; captured?: Captured | undefined } = {},
): AgentdumpError {
  const way = waysToTell(kind, name);
  const besides =
    shared.length > 0 ? ` (they differ only in ${shared.join(', ')}, which all of them change)` : '';
  const advice = way ? `${way}; or make` : 'Make';
  const unseen =
    captured && usesThis(captured)
      ? '. Nothing is seen of `this`; variables that the function names are, such as id after `const { id } = this`'
      : '';
  return new AgentdumpError(
    'changed',
    `${kind} ${joinPath(scope, name)}: calls in branches that had done nothing recorded before are told apart by time alone, so that it ` +
      `is not known which recorded one this is${besides}. ${advice} what comes before it a step${unseen}`,
    { path: scope, asked: `${kind} ${name}` },
  );
}

function waysToTell(kind: string, name: string): string | undefined {
  const write = wayToTell[kind];
  return write && `Give each a key or an input: ${write(`'${name}'`)}`;
}

/** For calls that may be the recorded one, if nothing that they capture tells which. `asked`: as in `describeCall`. */
export function adviceFor({ kind, word }: { kind: StepKind; word: string }, asked: string[]): string {
  const names = asked.flatMap((one) => (one.startsWith(`${kind} `) ? [one.slice(kind.length + 1)] : []));
  const name = names.find((one) => wordOf(kind, one) === word);
  const way = name && waysToTell(kind, name);
  return way ? `\nIf these are calls in branches, nothing tells which recorded one each is. ${way}` : '';
}

/** What to write instead. What a call captures has not told it apart, so it has to be named. */
const wayToTell: Record<string, ((name: string) => string) | undefined> = {
  step: (name) =>
    `agent.step(${name}, …, { key: … }), with what differs from call to call, such as the id of a document`,
  tool: (name) =>
    `agent.tool(${name}, …), with arguments that differ, or with { key: … } behind its function`,
  run: (name) => `agent.run(${name}, { config: … }, …), with what differs from call to call`,
  approval: (name) => `agent.waitForApproval(${name}, …), with a request that differs`,
};

/**
 * Whether the program can have made these calls, which only time distinguishes, one after the other: a loop, and no branches. So the
 * next call is the first of them, if no other can come before it returns.
 */
export function areInSequence(calls: readonly { seq: number; endSeq: number }[]): boolean {
  return calls.every(({ seq }, at) => {
    const { endSeq } = calls[at - 1] ?? { endSeq: 0 };
    return endSeq >= 0 && endSeq <= seq;
  });
}
