/**
 * Which codes of an error make which verdict: read by the writer, for the hint in a bundle's name, and by analysis, for the
 * verdict, so that the two never differ for want of a row.
 */
import type { StallFacts } from './bundle.ts';

/** Node's loaders could not load code. */
export const loaderCodes: ReadonlySet<string> = new Set([
  'ERR_DLOPEN_FAILED',
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
 * Whether Node's own loader threw this SyntaxError, by the first frame of its stack: not JSON.parse, new Function or
 * node:vm in the program.
 */
export const isFrameOfLoader = (frame: string): boolean =>
  /node:internal\/modules\/|wrapSafe|compileSourceTextModule/.test(frame);

/** The verdict's kind by the trigger alone; what was thrown, and what others saw of the death, may say more. */
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

/** A signal met a loop that had stood for longer than it may, or had before: one under the limit may be honest work. */
export function isHang({ silentMs = 0, limitMs = 0, earlier = 0 }: Partial<StallFacts>): boolean {
  return earlier > 0 || silentMs >= Math.max(limitMs, 1);
}

/** Of one error: its code, its message with the system call, and whether the loader threw it for a syntax error. */
export interface ThrownSigns {
  code: string;
  said: string;
  isLoaders: boolean;
}

export interface Circumstances {
  /** A worker thread ends with it. */
  endsWorker: boolean;
  /** The program had started: what cannot be loaded then is no failure to start. */
  isAtWork: boolean;
  /** How the event loop stood when a signal came. */
  stall?: Partial<StallFacts> | undefined;
}

/** What a thrown value makes of the trigger's kind; `chain`: the error, then what caused it. */
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

/** The system had none left of something. */
export const exhaustionCodes = [
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
 * `said`: the system call and the message. EAGAIN of a read or write means "later", nothing more, and ENOBUFS of a child that
 * was waited for means that it said more than its `maxBuffer`.
 */
export function meansExhaustion(code: string, said: string): code is ExhaustionCode {
  if (!(exhaustionCodes as readonly string[]).includes(code)) return false;
  if (code === 'ENOBUFS' && /spawnSync/.test(said)) return false;
  return code !== 'EAGAIN' || /spawn|fork|clone|uv_thread/.test(said);
}

/** A worker at the limit of its own heap. */
export const workerMemoryCode = 'ERR_WORKER_OUT_OF_MEMORY';
