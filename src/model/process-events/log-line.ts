/**
 * A structured log line as a person reads it: pino, bunyan, winston, Elastic's common schema, Google's and similar JSON lines, by
 * the field names that they share. Pure.
 */
import { clip, firstLine } from '../quantities.ts';

export interface LogLine {
  /** `error`, `fatal`; lower case. */
  level: string;
  /** Milliseconds since the epoch. */
  at?: number;
  message: string;
  /** `TypeError: x is not a function`. */
  error?: string;
  /** The error's stack as text. */
  stack?: string;
}

/** pino and bunyan. */
const numbered: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const synonyms: Record<string, string> = {
  warning: 'warn',
  err: 'error',
  critical: 'fatal',
  crit: 'fatal',
  alert: 'fatal',
  emerg: 'fatal',
  emergency: 'fatal',
  panic: 'fatal',
};
const levels = new Set([
  'silly',
  'trace',
  'verbose',
  'debug',
  'http',
  'info',
  'notice',
  'log',
  'default',
  ...Object.values(numbered),
]);
const longestLine = 64 * 1024;
const longestText = 300;

type Fields = Record<string, unknown>;

/** Undefined if the line is not a JSON object with a level and words. */
export function readLogLine(line: string): LogLine | undefined {
  const text = line.trim();
  if (!text.startsWith('{') || !text.endsWith('}') || text.length > longestLine) return undefined;
  const fields = parse(text);
  const level = fields && levelOf(fields);
  if (!fields || level === undefined) return undefined;
  const message = wordsOf(fields['msg'] ?? fields['message'] ?? fields['event']) ?? '';
  const error = errorOf(fields, message);
  if (message === '' && error === undefined) return undefined;
  const at = timeOf(fields);
  const stack = stackOf(fields);
  return {
    level,
    message,
    ...(error !== undefined && { error }),
    ...(at !== undefined && { at }),
    ...(typeof stack === 'string' && { stack }),
  };
}

/** `ERROR 12:00:01.123 charge failed (TypeError: x is not a function)`; the time in UTC, as everywhere in an account. */
export function logLineText(log: LogLine, isDated = true): string {
  const time = isDated && log.at !== undefined ? [new Date(log.at).toISOString().slice(11, 23)] : [];
  return [log.level.toUpperCase(), ...time, logWords(log)].join(' ');
}

/** `charge failed (TypeError: x is not a function)`. */
export function logWords({ message, error }: LogLine): string {
  if (error === undefined) return message;
  return message === '' ? error : `${message} (${error})`;
}

function parse(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** A field by its path, which Elastic's schema writes either nested or with dots. */
function at(fields: Fields, first: string, second: string): unknown {
  return fields[`${first}.${second}`] ?? fieldsOf(fields[first])?.[second];
}

function levelOf(fields: Fields): string | undefined {
  const said = fields['level'] ?? fields['severity'] ?? at(fields, 'log', 'level') ?? fields['lvl'];
  if (typeof said === 'number') return numbered[Math.floor(said / 10) * 10];
  if (typeof said !== 'string') return undefined;
  // Winston may have coloured it.
  const name = said.replace(/\x1b\[\d+m/g, '').toLowerCase();
  const level = synonyms[name] ?? name;
  return levels.has(level) ? level : undefined;
}

function errorOf(fields: Fields, message: string): string | undefined {
  const given = fields['err'] ?? fields['error'] ?? fields['exception'];
  const error = fieldsOf(given) ?? {};
  const named = error['type'] ?? error['name'] ?? fields['error.type'] ?? error['class'];
  const said = wordsOf(error['message']) ?? wordsOf(fields['error.message']) ?? wordsOf(given);
  if (said === undefined) return withoutRepeat(headOf(stackOf(fields)), message);
  const name = typeof named === 'string' && !said.startsWith(named) ? `${named}: ` : '';
  return withoutRepeat(`${name}${said}`, message);
}

function stackOf(fields: Fields): unknown {
  const error = fieldsOf(fields['err'] ?? fields['error'] ?? fields['exception']) ?? {};
  return error['stack'] ?? error['stack_trace'] ?? fields['error.stack_trace'] ?? fields['stack'];
}

/** The first line of a stack names the error, unless it is a frame. */
function headOf(stack: unknown): string | undefined {
  const head = wordsOf(stack);
  return head?.startsWith('at ') ? undefined : head;
}

/** Loggers that are given only an error take its message for theirs. */
function withoutRepeat(error: string | undefined, message: string): string | undefined {
  return error === message ? undefined : error;
}

function wordsOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  return clip(firstLine(value.trim()), longestText);
}

function timeOf(fields: Fields): number | undefined {
  const said = fields['time'] ?? fields['timestamp'] ?? fields['@timestamp'] ?? fields['ts'];
  const ms = typeof said === 'string' ? Date.parse(said) : typeof said === 'number' ? inMs(said) : Number.NaN;
  return Math.abs(ms) < 8.64e15 ? ms : undefined;
}

/** Some count in seconds. */
const inMs = (time: number): number => (time < 1e11 ? time * 1000 : time);
