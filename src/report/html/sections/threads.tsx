/** Stacks that the error does not show: other threads, and async functions that were waiting. */
import type { Account, SuspendedStack } from '../../../model/account.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { Thread } from '../../../model/thread.ts';
import { Frames } from '../parts/frames.tsx';
import { Chip, CutList } from '../parts/small.tsx';

const mostThreads = 12;

export function Threads({ account: { threads, error, suspended, process } }: { account: Account }) {
  const shown = (threads ?? []).filter((t) => t.frames.length && !(t.crashed && error?.frames?.length));
  const idle = shown.filter(isNodesOwn);
  // In a hang nothing crashed and there is no error: the stack of the main thread is the answer.
  const central = shown.find((t) => t.crashed) ?? shown.find((t) => !error && t.kind === 'main');
  const list = (items: Thread[]) => (
    <CutList
      items={items}
      most={mostThreads}
      what="threads"
      draw={(thread) => (
        <OneThread key={thread.id} thread={thread} isCentral={thread === central} cwd={process?.cwd} />
      )}
    />
  );
  return (
    <>
      {list(shown.filter((thread) => !isNodesOwn(thread)))}
      {idle.length ? (
        <details class="fold-section">
          <summary>
            {formatCount(idle.length, 'thread')} of Node’s own: {rolesOf(idle)}
          </summary>
          {list(idle)}
        </details>
      ) : null}
      <CutList
        items={suspended ?? []}
        most={mostThreads}
        what="waiting functions"
        draw={(stack, n) => <Suspended key={n} stack={stack} number={n + 1} cwd={process?.cwd} />}
      />
    </>
  );
}

/** A thread that runs no code of the program and did not die: its name is sufficient. */
function isNodesOwn({ kind, crashed, name, frames }: Thread): boolean {
  return kind === 'native' && !crashed && name !== undefined && !frames.some((frame) => frame.inApp);
}

function rolesOf(threads: Thread[]): string {
  return [...new Set(threads.map(({ name }) => name))].join(', ');
}

function OneThread({
  thread,
  isCentral,
  cwd,
}: {
  thread: Thread;
  isCentral: boolean;
  cwd: string | undefined;
}) {
  const { id, kind, name, crashed, state, frames, registers } = thread;
  return (
    <article class="thread">
      <h3>
        {kind} thread {kind === 'main' ? null : id}{' '}
        {name && name !== `${kind} thread` ? <span class="faint">{name}</span> : null}{' '}
        {crashed ? <Chip tone="bad">died here</Chip> : null}
        {state ? <Chip>{state}</Chip> : null}
      </h3>
      <Frames
        frames={frames}
        prefix={`thread-${id}-frame`}
        cwd={cwd}
        opened={isCentral ? frames.find((frame) => frame.inApp) : undefined}
      />
      {registers ? (
        <details class="registers">
          <summary>Registers</summary>
          <dl>
            {Object.entries(registers).map(([register, value]) => (
              <div key={register}>
                <dt>{register}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      ) : null}
    </article>
  );
}

function Suspended({
  stack,
  number,
  cwd,
}: {
  stack: SuspendedStack;
  number: number;
  cwd: string | undefined;
}) {
  return (
    <article class="thread">
      <h3>
        Waiting{' '}
        {stack.count !== undefined && stack.count > 1 ? (
          <span class="faint">{formatCount(stack.count, 'time')} alike</span>
        ) : null}
      </h3>
      <Frames frames={stack.frames} prefix={`waiting-${number}-frame`} cwd={cwd} />
    </article>
  );
}
