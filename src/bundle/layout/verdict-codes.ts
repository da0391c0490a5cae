/**
 * Which error codes lead to which verdict. Used by the writer for the hint in the bundle's name, and by the analysis for
 * the verdict, so that the two can't differ.
 */
import type { StallFacts } from './bundle.ts';

/** Codes of Node's loaders for code that could not be loaded. */
export const loaderCodes: ReadonlySet<string> = new Set([
  'ERR_DLOPEN_FAILED',
  'ERR_IMPORT_ASSERTION_TYPE_MISSING',
  'ERR_IMPORT_ATTRIBUTE_MISSING',
  'ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE',
  'ERR_IMPORT_ATTRIBUTE_UNSUPPORTED',
  'ERR_INVALID_MODULE_SPECIFIER',
  'ERR_INVALID_PACKAGE_CONFIG',
  'ERR_INVALID_PACKAGE_TARGET',
  'ERR_MODULE_NOT_FOUND',
  'ERR_PACKAGE_IMPORT_NOT_DEFINED',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_REQUIRE_ASYNC_MODULE',
  'ERR_REQUIRE_CYCLE_MODULE',
  'ERR_REQUIRE_ESM',
  'ERR_UNKNOWN_BUILTIN_MODULE',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_ESM_URL_SCHEME',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'MODULE_NOT_FOUND',
]);

/**
 * Whether this SyntaxError was thrown by Node's own loader, according to the first frame of its stack, and not by
 * JSON.parse, new Function or node:vm in the program.
 */
export const isFrameOfLoader = (frame: string): boolean =>
  /node:internal\/modules\/|wrapSafe|compileSourceTextModule/.test(frame);

/** The verdict kind by the trigger alone. The thrown value and what others observed may refine it. */
export const kindOfTrigger = {
  'uncaught-exception': 'uncaught-exception',
  'unhandled-rejection': 'unhandled-rejection',
  signal: 'terminated',
  'snapshot-signal': 'snapshot',
  'snapshot-call': 'snapshot',
  'snapshot-memory': 'snapshot',
  exit: 'exit',
  'pending-exit': 'pending-exit',
  'worker-death': 'worker-death',
  'no-progress': 'no-progress',
  stall: 'event-loop-hang',
} as const;

/**
 * A signal arrived while the loop was blocked for longer than the limit, or after it had been: a loop under the limit may
 * be legitimate work.
 */
export function isHang({ silentMs = 0, limitMs = 0, earlier = 0 }: Partial<StallFacts>): boolean {
  return earlier > 0 || silentMs >= Math.max(limitMs, 1);
}

/** For one error: its code, its message with the system call, and whether the loader threw it because of a syntax error. */
export interface ThrownSigns {
  code: string;
  said: string;
  isLoaders: boolean;
}

export interface Circumstances {
  /** It ends a worker thread. */
  endsWorker: boolean;
  /** The program had started: code that can't be loaded then is no failure at start. */
  isAtWork: boolean;
  /** The state of the event loop when a signal arrived. */
  stall?: Partial<StallFacts> | undefined;
}

/** Refines the kind of the trigger by the thrown value. `chain`: the error, followed by its causes. */
export function kindOfThrown(
  plain: 'uncaught-exception' | 'unhandled-rejection',
  chain: readonly ThrownSigns[],
  { endsWorker, isAtWork }: Circumstances,
): string {
  if (chain.some(({ code, said }) => meansExhaustion(code, said))) return 'resource-exhaustion';
  const root = chain.at(-1);
  if (root && !isAtWork && (loaderCodes.has(root.code) || root.isLoaders)) return 'startup-failure';
  return endsWorker || chain.some(({ code }) => code === workerMemoryCode) ? 'worker-death' : plain;
}

/** Codes for a resource that the system had run out of. */
const exhaustionCodes = [
  'EMFILE',
  'ENFILE',
  'ENOSPC',
  'EDQUOT',
  'ENOMEM',
  'ENOBUFS',
  'EADDRNOTAVAIL',
  'EAGAIN',
] as const;
export type ExhaustionCode = (typeof exhaustionCodes)[number];

/**
 * `said`: the system call and the message. EAGAIN of a read or write only means "try again", and ENOBUFS of a synchronous
 * child means that its output exceeded `maxBuffer`.
 */
export function meansExhaustion(code: string, said: string): code is ExhaustionCode {
  if (!(exhaustionCodes as readonly string[]).includes(code)) return false;
  if (code === 'ENOBUFS' && /spawnSync/.test(said)) return false;
  return code !== 'EAGAIN' || /spawn|fork|clone|uv_thread/.test(said);
}

/** A worker reached the limit of its own heap. */
export const workerMemoryCode = 'ERR_WORKER_OUT_OF_MEMORY';
