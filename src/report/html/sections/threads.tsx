/** Stacks that the error does not show: other threads, and async functions that were waiting. */
import type { Account, SuspendedStack } from '../../../model/account.ts';
import { formatCount } from '../../../model/quantities.ts';
import type { Thread } from '../../../model/thread.ts';
import { Frames } from '../parts/frames.tsx';
import { Chip, CutList } from '../parts/small.tsx';

const mostThreads = 12;

export function Threads({ account: { threads, error, suspended, process } }: { account: Account }) {
  const shown = (threads ?? []).filter((t) => t.frames.length && !(t.crashed && error?.frames?.length));
  return (
    <>
      <CutList
        items={shown}
        most={mostThreads}
        what="threads"
        draw={(thread) => <OneThread key={thread.id} thread={thread} cwd={process?.cwd} />}
      />
      <CutList
        items={suspended ?? []}
        most={mostThreads}
        what="waiting functions"
        draw={(stack, n) => <Suspended key={n} stack={stack} number={n + 1} cwd={process?.cwd} />}
      />
    </>
  );
}

function OneThread({ thread, cwd }: { thread: Thread; cwd: string | undefined }) {
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
        opened={crashed ? frames.find((frame) => frame.inApp) : undefined}
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
        Waiting {stack.count > 1 ? <span class="faint">{formatCount(stack.count, 'time')} alike</span> : null}
      </h3>
      <Frames frames={stack.frames} prefix={`waiting-${number}-frame`} cwd={cwd} />
    </article>
  );
}
