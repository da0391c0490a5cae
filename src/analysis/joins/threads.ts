/**
 * The thread that ended the process, with its frames and their variables, then worker threads, then the operating system's
 * threads.
 */
import type { Frame, LocalVariable, SourcePosition, Thread } from '../../model/thread.ts';
import type { BundleParts } from '../bundle-parts.ts';
import { defined } from '../parts/fields.ts';
import { isInApp } from '../stacks/in-app.ts';
import type { FrameReader } from './error-facts.ts';

type LocalsFrame = BundleParts['locals'][number];

/** `workers`: the frames of those whose scripts are in the bundle, mapped to the source, by the worker's id. */
export function joinThreads(
  parts: BundleParts,
  frames: Frame[],
  workers: ReadonlyMap<string, Frame[]>,
): Thread[] {
  const { trigger, process, threads } = parts;
  const isWorker = trigger?.isMainThread === false;
  const alive = new Set<unknown>([
    'snapshot-call',
    'snapshot-signal',
    'snapshot-memory',
    'stall',
    'capture',
    'silence',
    'no-progress',
  ]).has(trigger?.kind);
  const own: Thread = {
    id: trigger?.threadId ?? process?.threadId ?? 0,
    kind: isWorker ? 'worker' : 'main',
    crashed: trigger !== undefined && !alive,
    frames,
  };
  const native = threads.map(
    (thread): Thread => ({
      id: thread.tid,
      kind: 'native',
      crashed: false,
      frames: [],
      ...defined({
        name: thread.name || undefined,
        state: stateText(thread.state, thread.syscall),
        registers: thread.sp && thread.pc ? { sp: thread.sp, pc: thread.pc } : undefined,
      }),
    }),
  );
  const seen = parts.workerStacks.map((worker) => joinWorker(worker, workers.get(worker.workerId)));
  return trigger || frames.length || native.length ? [own, ...seen, ...native] : [];
}

/**
 * The frames of workers whose scripts are in the bundle, mapped to the source. Those of a process that wrote its bundle itself were
 * mapped when they were read (src/ci/watch/worker-look.ts).
 */
export async function mapWorkers(
  { workerStacks, scripts }: BundleParts,
  read: FrameReader,
): Promise<Map<string, Frame[]>> {
  const urls = new Map(scripts.map(({ scriptId, url }) => [scriptId, url]));
  const mapped = new Map<string, Frame[]>();
  for (const { workerId, frames } of workerStacks) {
    if (!frames.some(({ scriptId, url }) => urls.get(scriptId) === url)) continue;
    const placed = await read({ frames });
    if (placed.length === frames.length) mapped.set(workerId, placed);
  }
  return mapped;
}

/**
 * A worker thread as seen by the debugger. Below the program's own frames there is usually the whole test runner: then variables of
 * packages are omitted, since they would hide the program's own.
 */
function joinWorker(worker: BundleParts['workerStacks'][number], mapped: Frame[] = []): Thread {
  const hasOwn = worker.frames.some(({ url }) => isInApp(url));
  return {
    id: worker.workerId,
    kind: 'worker',
    crashed: false,
    ...defined({ name: worker.title || undefined, state: worker.idle ? 'idle' : undefined }),
    frames: worker.frames.map((frame, at): Frame => {
      const inApp = isInApp(frame.url);
      const locals = hasOwn && !inApp ? [] : variablesOf(frame);
      return {
        function: frame.functionName || '(anonymous)',
        file: pathOf(frame.url),
        line: frame.line,
        column: frame.column,
        inApp,
        trust: 'inspector',
        ...mapped[at],
        ...(locals.length > 0 && { locals }),
      };
    }),
  };
}

function stateText(state: string, syscall: string | undefined): string | undefined {
  return [state, syscall && `in ${syscall}`].filter(Boolean).join(' ') || undefined;
}

/** Adds the variables of `locals.json` to the frames at the same generated position. */
export function addLocals(frames: readonly Frame[], locals: readonly LocalsFrame[]): Frame[] {
  const left = [...locals];
  return frames.map((frame) => {
    const place = frame.generated ?? frame;
    const [found] = takeFrame(left, frame, place);
    const variables = found && variablesOf(found);
    return variables?.length ? { ...frame, locals: variables } : frame;
  });
}

/**
 * The debugger stops at the `throw`, but the stack starts at the preceding `new Error`. So for a frame without an exact
 * match, only the function must be equal and the line within 20.
 */
function takeFrame(
  left: LocalsFrame[],
  { function: name = '' }: Frame,
  place: Partial<SourcePosition>,
): LocalsFrame[] {
  const { file, line = 0, column = 0 } = place;
  const same = left.filter((l) => pathOf(l.url) === pathOf(file ?? ''));
  const exact = same.find((l) => l.line === line && l.column === column);
  const near = same.find(
    (l) =>
      Math.abs(l.line - line) <= 20 && l.functionName !== '' && lastWord(l.functionName) === lastWord(name),
  );
  const found = exact ?? near;
  return found ? left.splice(left.indexOf(found), 1) : [];
}

/** `async Agent.plan [as run]` and `plan` are the same function. */
function lastWord(name: string): string {
  return (
    name
      .replace(/ \[as .*$/, '')
      .split(/[ .]/)
      .pop() ?? ''
  );
}

/** Nearest scope first, in the debugger's order; without the global scope, which says nothing about a frame. */
function variablesOf({ scopes }: LocalsFrame): LocalVariable[] {
  return scopes
    .filter((scope) => scope.type !== 'global')
    .flatMap((scope) => scope.variables.map(({ name, value }) => ({ name, scope: scope.type, value })));
}

/** A file: URL and a path are the same place. */
function pathOf(url: string): string {
  if (!url.startsWith('file://')) return url;
  try {
    return decodeURIComponent(url.slice('file://'.length));
  } catch {
    return url.slice('file://'.length);
  }
}
