/**
 * Which words of an error's message are data: the source where it was thrown shows what the program wrote and what it put in,
 * as in `no rate for ${currency}` or `'no rate for ' + currency`. A minifier keeps the written words. Pure.
 */
import type { Frame } from '../model/thread.ts';

/** In place of data. */
const value = '<value>';
/** Of a stack: a helper that throws has been told the message by one of its callers. */
const mostFrames = 5;
const mostText = 600;
const longestMessage = 2000;
/** Fewer written letters match too much. */
const leastLetters = 4;

/** What is written, or the expression of what is not. */
type Piece = { written: string } | { expression: string };

export interface Template {
  text: string;
  /** Where it is written. */
  frame: Frame;
}

/**
 * The message with a placeholder for each of its values, if a text in the source at one of the frames fits it: the one that
 * explains most of it. Undefined if none does.
 */
export function templateOf(message: string, frames: readonly Frame[]): Template | undefined {
  if (message.length > longestMessage) return undefined;
  let best: (Template & { letters: number }) | undefined;
  for (const frame of frames.filter(({ source }) => source !== undefined).slice(0, mostFrames))
    for (const pieces of sourcesOf(frame).flatMap(readTexts)) {
      const letters = pieces.reduce((sum, piece) => sum + lettersOf(piece), 0);
      if (letters < leastLetters || (best && best.letters >= letters)) continue;
      const text = fit(message, pieces);
      if (text !== undefined) best = { letters, text, frame };
    }
  return best;
}

const lettersOf = (piece: Piece): number =>
  'written' in piece ? (piece.written.match(/\p{L}/gu)?.length ?? 0) : 0;

/** What another error said tells faults apart; anything else that is put into a message is data. */
const isOfError = /(?:\.message|\.stack|^(?:String\()?(?:err|error|cause|exception|message|msg)\)?)$/i;

/** Undefined if the message is not made of the pieces. Each written piece is taken where it is found first. */
function fit(message: string, pieces: readonly Piece[]): string | undefined {
  let text = '';
  let at = 0;
  let open: string | undefined;
  const last = pieces.length - 1;
  for (const [n, piece] of pieces.entries()) {
    if ('expression' in piece) {
      open = piece.expression;
      continue;
    }
    const { written } = piece;
    const found =
      open === undefined
        ? message.startsWith(written, at) && (n < last || at + written.length === message.length)
          ? at
          : -1
        : n === last
          ? message.endsWith(written) && message.length - written.length >= at
            ? message.length - written.length
            : -1
          : message.indexOf(written, at);
    if (found < 0) return undefined;
    text += shown(open, message.slice(at, found)) + written;
    at = found + written.length;
    open = undefined;
  }
  return open === undefined
    ? at === message.length
      ? text
      : undefined
    : text + shown(open, message.slice(at));
}

const shown = (expression: string | undefined, data: string): string =>
  expression === undefined ? '' : isOfError.test(expression.trim()) ? data : value;

/**
 * What follows the frame's position, where the error is made or a function is called; and the lines before it, which may have
 * made the message.
 */
function sourcesOf({ source = [], line, column = 1 }: Frame): string[] {
  const at = source.findIndex((one) => one.line === line);
  const here = source[at];
  if (!here) return [];
  const from = Math.max(0, column - (here.startColumn ?? 1));
  if (here.lengthChars !== undefined) return [here.text.slice(from)];
  const further = source.slice(at + 1).map(({ text }) => text);
  const after = [here.text.slice(from), ...further].join('\n');
  const before = [here.text.slice(0, from), ...source.slice(0, at).map(({ text }) => text)];
  // Templates within templates are read by recursion.
  return [after, ...before].map((text) => text.slice(0, mostText));
}

const opening = new Set(['(', '[', '{']);
const closing = new Set([')', ']', '}']);
/** An operator between two alternatives, or between two expressions. */
const separators = /^(?:\?\?|\|\||&&|=>|[,;?:]|(?<![=!<>])=(?!=))/;

/** The texts with something written in them, of all expressions up to the end of the statement. */
function readTexts(source: string): Piece[][] {
  const found: Piece[][] = [];
  const enclosing: { pieces: Piece[]; from: number }[] = [];
  let pieces: Piece[] = [];
  /** Where the current operand begins that is not a text. */
  let operand = -1;
  const endOperand = (to: number): void => {
    if (operand >= 0) pieces.push({ expression: source.slice(operand, to) });
    operand = -1;
  };
  const endText = (to: number): void => {
    endOperand(to);
    if (pieces.some((piece) => 'written' in piece)) found.push(joined(pieces));
    pieces = [];
  };
  let at = 0;
  while (at < source.length) {
    const char = source[at] ?? '';
    if (char === "'" || char === '"' || char === '`') {
      const text = readQuoted(source, at);
      if (!text) break;
      // Of a tagged template and a key, nothing is known.
      if (operand < 0) pieces.push(...text.pieces);
      at = text.end;
    } else if (opening.has(char)) {
      enclosing.push({ pieces, from: operand < 0 ? at : operand });
      pieces = [];
      operand = -1;
      at++;
    } else if (closing.has(char)) {
      endText(at);
      const outer = enclosing.pop();
      if (!outer) return found;
      pieces = outer.pieces;
      operand = outer.from;
      at++;
      if (char === '}' && enclosing.length === 0) break;
    } else if (char === '+' && source[at + 1] !== '+') {
      endOperand(at);
      at++;
    } else if (separators.test(source.slice(at, at + 2))) {
      endText(at);
      if (char === ';' && enclosing.length === 0) return found;
      at += separators.exec(source.slice(at, at + 2))?.[0].length ?? 1;
    } else {
      if (operand < 0 && !/\s/.test(char)) operand = at;
      at++;
    }
  }
  endText(at);
  return found;
}

/** Adjacent written pieces as one, and adjacent expressions as one; without empty pieces. */
function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if ('written' in piece && piece.written === '') continue;
    if (last && 'written' in last && 'written' in piece)
      result[result.length - 1] = { written: last.written + piece.written };
    else if (last && 'expression' in last && 'expression' in piece)
      result[result.length - 1] = { expression: `${last.expression} + ${piece.expression}` };
    else result.push(piece);
  }
  return result;
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\n': '' };

/** Undefined if the text does not end: the source was cut there. */
function readQuoted(source: string, from: number): { pieces: Piece[]; end: number } | undefined {
  const quote = source[from] ?? '';
  const pieces: Piece[] = [];
  let written = '';
  for (let at = from + 1; at < source.length; at++) {
    const char = source[at] ?? '';
    if (char === quote) return { pieces: [...pieces, { written }], end: at + 1 };
    if (char === '\\') {
      const next = source[++at] ?? '';
      const [, code] =
        /^(?:x([\da-f]{2})|u([\da-f]{4}))/i.exec(source.slice(at, at + 5))?.filter(Boolean) ?? [];
      written +=
        code === undefined ? (escapes[next] ?? next) : String.fromCharCode(Number.parseInt(code, 16));
      at += code?.length ?? 0;
    } else if (quote === '`' && char === '$' && source[at + 1] === '{') {
      const end = endOfHole(source, at + 2);
      if (end === undefined) return undefined;
      pieces.push({ written }, { expression: source.slice(at + 2, end) });
      written = '';
      at = end;
    } else written += char;
  }
  return undefined;
}

/** Of `${…}`: the position of its closing brace. */
function endOfHole(source: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    const char = source[at] ?? '';
    if (char === '}' && depth === 0) return at;
    if (char === '{') depth++;
    else if (char === '}') depth--;
    else if (char === "'" || char === '"' || char === '`') {
      const text = readQuoted(source, at);
      if (!text) return undefined;
      at = text.end - 1;
    }
  }
  return undefined;
}
