/**
 * Names in an apport report, as apport writes them. The format is text in the style of RFC 822 with case-sensitive keys;
 * continuation lines of a value begin with a space. Binary values are the word `base64`, followed by lines that are base64
 * each on its own; together they decode to one gzip stream, in old versions zlib, in new ones also zstd. Sources:
 * problem_report.py and report.py of apport, and its doc/data-format.tex.
 */
export const PROBLEM_TYPE = 'ProblemType';
export const CORE_DUMP = 'CoreDump';
export const BASE64 = 'base64';

/** Fields that are kept; all others are skipped. */
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
