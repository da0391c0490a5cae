/** What a program printed, line by line: what people read of it, and the line that explains a failure. Pure. */
import { logLineText, readLogLine } from './log-line.ts';

/**
 * Non-empty lines, except for those that the preload wrote. Empty for binary output (node:test's files report in a binary
 * format).
 */
export function saidLines(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('agentdump: '));
  const binary = lines.filter((line) => isBinary.test(line)).length;
  return binary * 4 > lines.length ? [] : lines;
}

/** As a person reads it, if it is a structured log line; otherwise as it is. */
export function readableLine(line: string, isDated = true): string {
  const log = readLogLine(line);
  return log ? logLineText(log, isDated) : line;
}

/** Control characters, raw or escaped for a terminal. */
const isBinary = /[\x00-\x06\x0e-\x1a]|\\x(?:0[0-6ef]|1[0-9a])/;

/**
 * The line with which a program explains its failure: the last one that names an error, otherwise the last line. Stack frames,
 * brackets and the numbered lines of source code that test runners and compilers print are ignored.
 */
export function tellingLine(text: string): string {
  const lines = saidLines(text)
    .map((line) => readableLine(line.trim(), false))
    .filter((line) => /[\p{L}\p{N}]{2}/u.test(line) && !framesAndFooters.test(line));
  return lines.findLast((line) => namesError.test(line)) ?? lines.at(-1) ?? '';
}

const framesAndFooters =
  /^(?:at .+|(?:> ?)?\d+ [|│] .*|\.\.\. \d+ .+|Node\.js v\d.*|npm (?:error|ERR!) A complete log .*)$/;
const namesError =
  /(?:^|[^\w/.-])(?:[A-Z]\w*)?(?:[Ee]rror|ERROR|ERR!|fatal|FATAL|[Ff]ailed|[Cc]annot|[Cc]ould not|panic)\b|^[✖✗×✘]/u;
