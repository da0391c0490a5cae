/**
 * Names of an apport report, as apport writes them: text in the manner of RFC 822 with case-sensitive keys, a value's further
 * lines behind a blank. What is binary has the value `base64`, then lines that are each base64 for themselves; joined they are one
 * gzip stream, of old versions zlib, of new ones also zstd.
 * Sources: problem_report.py and report.py of apport, and its doc/data-format.tex.
 */
export const PROBLEM_TYPE = 'ProblemType';
export const CORE_DUMP = 'CoreDump';
export const BASE64 = 'base64';

/** Fields that are kept; all others are passed over. */
export const keptFields = [
  'Date',
  'ExecutablePath',
  'InterpreterPath',
  'ProcCmdline',
  'ProcCwd',
  'ProcStatus',
  'Signal',
] as const;
export type FieldKey = (typeof keptFields)[number];

export const isApportReport = (head: Uint8Array): boolean =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 16))
    .toString('latin1')
    .startsWith(`${PROBLEM_TYPE}:`);
