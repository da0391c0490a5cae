/** What is known before anything is collected: `trigger.json`, and the key by which a repeated death is recognised. */
import { bundleSchemaVersion, type TriggerPart } from '../bundle/layout.ts';
import { isFromModuleEvaluation } from './module-evaluation.ts';
import { programName } from './program-name.ts';
import { type CaptureRequest, type InsideKind, isMainThread } from './request.ts';
import { hintVerdictKind } from './verdict-hint.ts';

export function describeTrigger(request: CaptureRequest): TriggerPart {
  const { threadId } = process.getBuiltinModule('node:worker_threads');
  const kind = refineKind(request);
  return {
    id: '',
    schemaVersion: bundleSchemaVersion,
    kind,
    verdictKind: hintVerdictKind(kind, isMainThread, request.thrown?.value),
    at: new Date().toISOString(),
    program: programName(process.argv),
    pid: process.pid,
    threadId,
    isMainThread,
    nodeVersion: process.version,
    handledByHost: request.handledByHost,
    ...request.details,
  };
}

/** A module that threw while it was evaluated is no rejection to whoever wrote it, though Node reports one. */
function refineKind({ kind, handledByHost, thrown }: CaptureRequest): InsideKind {
  const isEvaluation =
    kind === 'unhandled-rejection' && !handledByHost && isFromModuleEvaluation(thrown?.value);
  return isEvaluation ? 'uncaught-exception' : kind;
}

/** The first lines of the stack, without what differs between two runs. */
export function repeatKey({ thrown, stackText, details }: CaptureRequest): string[] {
  try {
    const stack =
      (thrown?.value as { stack?: unknown } | undefined)?.stack ?? stackText ?? String(thrown?.value);
    const key = String(stack).split('\n', 4).join('\n').replace(/\d+/g, '#').slice(0, 600);
    return [key, details?.signal?.name ?? '', String(details?.exitCode)];
  } catch {
    return [];
  }
}
