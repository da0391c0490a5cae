/** A command line for a sentence: short enough, and with every word's beginning and end. Pure. */
import { quoteWords, splitWords } from '../platform/paths.ts';
import { clip } from './quantities.ts';

const longestWord = 48;
const isShell = /^(?:\S*[\\/])?(?:ba|da|z|k)?sh$/;

/** The words without their folders; those of a script that a shell was given, too. */
export function withoutFolders(command: string): string {
  const words = splitWords(command);
  if (!words) return command;
  const isScript = (at: number) => at > 0 && words[at - 1] === '-c' && isShell.test(words[0] ?? '');
  return quoteWords(words.map((word, at) => (isScript(at) ? shortScript(word) : lastOfPath(word))));
}

/** Of a path; not of an address, a flag's value or the name of a package. */
function lastOfPath(word: string): string {
  if (/^[A-Za-z]:[\\/]/.test(word)) return /[^\\/]+[\\/]?$/.exec(word)?.[0] ?? word;
  return /^[\w.-]*\/(?!\/)/.test(word) ? (/[^/]+\/?$/.exec(word)?.[0] ?? word) : word;
}

/** What a shell was given to run keeps its own quotes and operators: `"/usr/bin/node" a.mjs && b` → `node a.mjs && b`. */
function shortScript(script: string): string {
  return script
    .replace(/(?<![^\s;&|(=])(["'])[\w.-]*\/(?:[^"'/]+\/)*([^"'/]+)\1(?![^\s;&|)])/g, (_, quote, last) =>
      /^[\w.@+-]+$/.test(last) ? last : `${quote}${last}${quote}`,
    )
    .replace(/(?<![^\s;&|(])[\w.-]*\/(?:[\w.@+-]+\/)*(?=[\w.@+-])/g, '');
}

/** At most `max` characters: long words lose their middle first, then the line loses its own, so that its first word and its end stay. */
export function foldCommand(command: string, max: number): string {
  if (command.length <= max) return command;
  const words = splitWords(command);
  const folded = words
    ? quoteWords(words.map((word) => (word.length > longestWord ? foldMiddle(word, longestWord) : word)))
    : command;
  return foldMiddle(folded, max);
}

/** Never within a surrogate pair. */
function foldMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = clip(text, Math.ceil(max * 0.6));
  const tail = text.slice(text.length - (max - head.length));
  return `${head}${/^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail}`;
}
