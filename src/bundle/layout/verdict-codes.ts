/**
 * Which codes of an error make which verdict: read by the writer, for the hint in a bundle's name, and by analysis, for the
 * verdict, so that the two never differ for want of a row.
 */

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

/** `said`: the system call and the message. EAGAIN of a read or write means "later", nothing more. */
export function meansExhaustion(code: string, said: string): code is ExhaustionCode {
  if (!(exhaustionCodes as readonly string[]).includes(code)) return false;
  return code !== 'EAGAIN' || /spawn|fork|clone|uv_thread/.test(said);
}

/** A worker at the limit of its own heap. */
export const workerMemoryCode = 'ERR_WORKER_OUT_OF_MEMORY';
