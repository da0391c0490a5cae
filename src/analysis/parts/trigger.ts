/** `trigger.json`, field by field. */
import type { SilenceFacts, StallFacts, TriggerKind, TriggerPart } from '../../bundle/layout/bundle.ts';
import { asNumber, defined, type Fields } from './fields.ts';

/** A record, so that the compiler requires every kind of the layout. */
const kinds: Record<TriggerKind, true> = {
  'uncaught-exception': true,
  'unhandled-rejection': true,
  signal: true,
  'snapshot-signal': true,
  'snapshot-call': true,
  'snapshot-memory': true,
  exit: true,
  'pending-exit': true,
  'worker-death': true,
  'no-progress': true,
  'supervised-exit': true,
  'found-dead': true,
  stall: true,
  capture: true,
  silence: true,
};

export type TriggerFacts = Partial<Omit<TriggerPart, 'signal' | 'worker' | 'stall' | 'silence'>> & {
  stall?: Partial<StallFacts>;
  silence?: Partial<SilenceFacts>;
  signal?: { name: string; number?: number; fromItself?: true; heardMsBefore?: number };
  worker?: {
    threadId?: number;
    name?: string;
    exitCode?: number;
    resourceLimits?: Record<string, number>;
  };
};

export function readTrigger(part: Fields): TriggerFacts {
  return defined({
    id: part.text('id'),
    kind: part.oneOf('kind', Object.keys(kinds) as TriggerKind[]),
    verdictKind: part.text('verdictKind'),
    at: part.text('at'),
    program: part.text('program'),
    pid: part.number('pid'),
    threadId: part.number('threadId'),
    isMainThread: part.flag('isMainThread'),
    nodeVersion: part.text('nodeVersion'),
    reason: part.text('reason'),
    signal: readSignal(part.object('signal')),
    exitCode: part.number('exitCode'),
    exitStack: part.text('exitStack'),
    unasked: part.oneOf('unasked', ['port-taken']),
    handledByHost: part.flag('handledByHost'),
    origin: part.text('origin'),
    handledBy: part.oneOf('handledBy', ['uncaughtException', 'unhandledRejection', 'captureCallback']),
    atExit: part.flag('atExit') || undefined,
    thrownBy: readThrownBy(part.object('thrownBy')),
    phase: part.oneOf('phase', ['starting', 'at-work']),
    worker: readWorker(part.object('worker')),
    thread: readThread(part.object('thread')),
    repeats: part.number('repeats'),
    pending: part.texts('pending'),
    setByNode: part.flag('setByNode') || undefined,
    duringTest: part.flag('duringTest') || undefined,
    stall: readStall(part.object('stall')),
    silence: readSilence(part.object('silence')),
    recorderId: part.text('recorderId'),
    failedListen: readFailedListen(part.object('failedListen')),
  });
}

function readFailedListen(failed: Fields | undefined): TriggerFacts['failedListen'] {
  const message = failed?.text('message');
  if (message === undefined) return undefined;
  return { message, ...defined({ stack: failed?.text('stack') }) };
}

function readThrownBy(by: Fields | undefined): TriggerFacts['thrownBy'] {
  const handler = by?.oneOf('handler', [
    'uncaughtException',
    'captureCallback',
    'uncaughtExceptionMonitor',
  ] as const);
  const bundle = by?.text('bundle');
  return handler && bundle !== undefined ? { handler, bundle } : undefined;
}

function readSignal(signal: Fields | undefined): TriggerFacts['signal'] {
  const name = signal?.text('name');
  if (name === undefined) return undefined;
  const [number, heardMsBefore] = [signal?.number('number'), signal?.number('heardMsBefore')];
  const isOwn = signal?.flag('fromItself') === true;
  return { name, ...defined({ number, heardMsBefore }), ...(isOwn && { fromItself: true }) };
}

function readStall(stall: Fields | undefined): TriggerFacts['stall'] {
  return (
    stall &&
    defined({
      silentMs: stall.number('silentMs'),
      limitMs: stall.number('limitMs'),
      where: stall.oneOf('where', ['javascript', 'native']),
      cpuMs: stall.number('cpuMs'),
      queuedMs: stall.number('queuedMs'),
      cpuWhileAskedMs: stall.number('cpuWhileAskedMs'),
      microtasksRan: stall.flag('microtasksRan'),
      callback: stall.text('callback'),
      laterStacks: stall.texts('laterStacks'),
      earlier: stall.number('earlier'),
    })
  );
}

function readWorker(worker: Fields | undefined): TriggerFacts['worker'] {
  return (
    worker &&
    defined({
      threadId: worker.number('threadId'),
      name: worker.text('name'),
      exitCode: worker.number('exitCode'),
      resourceLimits: worker.record('resourceLimits', asNumber),
    })
  );
}

function readThread(thread: Fields | undefined): TriggerFacts['thread'] {
  return thread && defined({ name: thread.text('name'), file: thread.text('file') });
}

function readSilence(silence: Fields | undefined): TriggerFacts['silence'] {
  if (!silence) return undefined;
  const repeated = silence.object('repeated');
  const [length, times] = [repeated?.number('length'), repeated?.number('times')];
  return defined({
    silentMs: silence.number('silentMs'),
    deadlineMs: silence.number('deadlineMs'),
    signs: silence.text('signs'),
    lastSign: silence.text('lastSign'),
    repeated: length === undefined || times === undefined ? undefined : { length, times },
    count: silence.number('count'),
  });
}
