/** What is known before anything is collected: `trigger.json`, and the key that identifies repeated deaths. */
import { bundleSchemaVersion, type TriggerPart } from '../../bundle/layout/bundle.ts';
import { findField } from '../host/read-field.ts';
import type { Config } from '../install/config.ts';
import { programName } from '../install/program-name.ts';
import { ownThreadName } from '../triggers/known-workers.ts';
import { findProgramPhase } from '../triggers/program-phase.ts';
import type { CaptureRequest } from './request.ts';
import { isMainThread } from './surroundings.ts';
import { hintVerdictKind } from './verdict-hint.ts';

const { now } = Date;

/** `hasWorked`: work of an agent or a server was recorded, so the program is no longer starting. */
export function describeTrigger(request: CaptureRequest, hasWorked = false): TriggerPart {
  // Node 20 assigns `process.chdir` when it loads this module, and the program may have frozen `process`.
  const { threadId } = isMainThread ? { threadId: 0 } : process.getBuiltinModule('node:worker_threads');
  const { kind } = request;
  const phase = request.thrown && (hasWorked ? 'at-work' : findProgramPhase(request.thrown.value));
  return {
    id: '',
    schemaVersion: bundleSchemaVersion,
    kind,
    verdictKind: hintVerdictKind(kind, request.thrown?.value, {
      endsWorker: !isMainThread && !request.handledByHost,
      isAtWork: phase === 'at-work',
      stall: request.details?.stall,
    }),
    at: new Date(request.atMs ?? now()).toISOString(),
    program: programName(process.argv, process.env),
    pid: process.pid,
    threadId,
    isMainThread,
    ...(!isMainThread && { thread: describeThread() }),
    nodeVersion: process.version,
    handledByHost: request.handledByHost,
    ...(phase && { phase }),
    ...(request.handledByHost ? handlerOf(request) : kind === 'uncaught-exception' && exitUnderWay()),
    ...request.details,
  };
}

/** Of an error that is handled by listeners of `process`. Node calls none for an exception if the callback is set. */
function handlerOf({ kind, isHandledNext }: CaptureRequest): Pick<TriggerPart, 'handledBy'> {
  if (isHandledNext)
    return {
      handledBy: process.hasUncaughtExceptionCaptureCallback() ? 'captureCallback' : 'uncaughtException',
    };
  return kind === 'unhandled-rejection' ? { handledBy: 'unhandledRejection' } : {};
}

/** Thrown by a listener of `exit`: then Node keeps the exit code, if there is one (Node 20 to 26). */
function exitUnderWay(): Pick<TriggerPart, 'atExit' | 'exitCode'> {
  const { _exiting, exitCode } = process as NodeJS.Process & { _exiting?: boolean };
  if (_exiting !== true) return {};
  return {
    atExit: true,
    ...(exitCode !== undefined && exitCode !== null && { exitCode: Number(exitCode) || 0 }),
  };
}

function describeThread(): NonNullable<TriggerPart['thread']> {
  const name = ownThreadName();
  const [, file] = process.argv;
  return { ...(name && { name }), ...(typeof file === 'string' && !file.startsWith('[') && { file }) };
}

/**
 * Two deaths with the same key are the same: the first lines of the stack (without the numbers in the message), how it ended,
 * and what was to be captured, so that a second run that captures more is not taken for a repeat.
 */
export function repeatKey(
  { thrown, stackText, handledByHost, details }: CaptureRequest,
  config: Config,
): string[] {
  const stack = findField(thrown?.value, 'stack') ?? stackText ?? plainText(thrown?.value);
  // The message may have 100 MB, with the frames behind it.
  const [message = '', ...frames] = String(stack).slice(0, longestCompared).split('\n', 6);
  return [
    message.replace(/\d+/g, '#').slice(0, 300),
    // The lines within Node's own functions depend on what else is due, for example other timers.
    frames
      .join('\n')
      .replace(/(node:internal\/[^:)\n]*):\d+:\d+/g, '$1')
      .slice(0, 900),
    details?.signal?.name ?? '',
    String(details?.exitCode),
    `${handledByHost} ${config.locals} ${config.heap}`,
  ];
}

/** Characters of the stack that are compared. */
const longestCompared = 4096;

/** Of a value that is no error: itself, or what an object says of its fault. */
function plainText(value: unknown): string {
  if (typeof value !== 'object' && typeof value !== 'function') return String(value);
  const told = ['name', 'code', 'message'].map((name) => findField(value, name));
  return [typeof value, ...told.filter((one) => typeof one === 'string' || typeof one === 'number')].join(
    ' ',
  );
}
