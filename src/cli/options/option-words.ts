/**
 * Parses the options of the commands that start another one (`run`, `ci`) without yargs, because they delay the program's
 * start, and yargs alone would cost 60 ms. Ends at `--` or at the first word that is not an option; the rest is the command
 * line.
 */
import { AgentdumpError } from '../../errors.ts';
import { meantText } from '../suggest.ts';

export interface OptionReaders<Options> {
  /** With a value, after `=` or as the next word; `word` is for messages. */
  valued: Readonly<Record<string, (options: Options, value: string, word: string) => void>>;
  /** Without a value, except those in `optional`, which may have one after `=`. */
  flags: Readonly<Record<string, (options: Options, value: string | undefined, word: string) => void>>;
  optional: ReadonlySet<string>;
}

/**
 * Parses the options into `options`; returns the command line after them. `command` is our own name, for messages. Throws
 * AgentdumpError `usage` for invalid options.
 */
export function readOptionWords<Options>(
  words: readonly string[],
  options: Options,
  readers: OptionReaders<Options>,
  command: string,
): string[] {
  let at = 0;
  for (; at < words.length && words[at]?.startsWith('-'); at++) {
    const word = words[at] ?? '';
    if (word === '--') break;
    const [name = '', ...rest] = word.replace(/^--/, '').split('=');
    const value = rest.length ? rest.join('=') : undefined;
    const flag = Object.hasOwn(readers.flags, name) ? readers.flags[name] : undefined;
    const valued = Object.hasOwn(readers.valued, name) ? readers.valued[name] : undefined;
    if (flag && (value === undefined || readers.optional.has(name))) flag(options, value, `--${name}`);
    else if (valued) valued(options, value ?? requireValue(words[++at], word), `--${name}`);
    else
      throw usage(
        `${command} has no option ${word}${meantText(name, [...Object.keys(readers.flags), ...Object.keys(readers.valued)], '--')}`,
        word,
      );
  }
  return words.slice(words[at] === '--' ? at + 1 : at);
}

export function requireOneOf<T extends string>(value: string, allowed: readonly T[], argument: string): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw usage(`${argument} is ${allowed.join(', ')}, not ${value}`, argument);
  return found;
}

/** Bytes, or a count; may be followed by K, M or G. */
export function requireSize(value: string, argument: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})([KMG]?)$/i.exec(value) ?? [];
  if (!digits) throw usage(`${argument} wants a number such as 20 or 512M, not ${value}`, argument);
  return Number(digits) * 1024 ** ['', 'K', 'M', 'G'].indexOf(unit.toUpperCase());
}

export function usage(message: string, argument: string): AgentdumpError {
  return new AgentdumpError('usage', message, { argument });
}

function requireValue(value: string | undefined, argument: string): string {
  if (value === undefined || value === '--') throw usage(`${argument} wants a value`, argument);
  return value;
}
