/**
 * The form of an error's message: without what differs between two deaths of one fault. All values have one placeholder, because
 * the same place may hold a number in one death and a name with digits in the next. Pure.
 */
import { clip, firstLine } from '../model/quantities.ts';

const value = '<value>';

/** Applied in order: what has parts must be replaced before its parts. */
const volatile: [RegExp, string][] = [
  // The engine's words about a text that is no JSON: they differ with the text, and with the version.
  [
    /^.* (?:in JSON at position \d+|JSON input|is not valid JSON)(?: \(line \d+ column \d+\))?$/,
    'not valid JSON',
  ],
  // The tag in a redactor's placeholder differs from bundle to bundle.
  [/\[(?:redacted|withheld)[^\]\n]{0,80}\]/gi, value],
  // Objects, as JSON and as Node prints them.
  [/\{\s*"[^\n]*\}|\{ [\w$]+: [^\n]* \}/, value],
  // The system's errors: the file is named, and may be any.
  [/(?<=^E[A-Z]{2,15}: [^'\n]{0,80})'[^\n]*'$/, value],
  [/\b[\w.+-]+@[a-z][\w-]*(?:\.[\w-]+)*\.[a-z]{2,}\b/gi, value],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, value],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, value],
  // Sat, 28 Nov 2026, and in the other order.
  [
    /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?(?:\d\d?\.? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? (?=\d)/g,
    `${value} `,
  ],
  [/ GMT(?:[+-]\d{4})?(?: \([\w ]+\))?/g, ''],
  [/\b(?:file|https?|wss?):\/\/[^\s'"`)\]}>]+/gi, value],
  [/(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][\w@.+~-]+){2,}/g, value],
  [/(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi, value],
  // Quoted text that is no name: one with a blank, a letter beyond ASCII or the like.
  [
    /(?<=^|[\s([{=:,])(["'`])(?=[^"'`]*[^\w$.\-/:#<>"'`])[^"'`]{1,100}\1(?=$|[\s)\]},.:;!?])/g,
    `$1${value}$1`,
  ],
  [/\b0x[0-9a-f]+\b/gi, value],
  [/\b(?:[0-7][0-9A-HJKMNP-TV-Z]{25})\b/g, value],
  [/\b(?=[0-9a-z_-]*\d)(?=[0-9a-z_-]*[a-z])[0-9a-z]+[_-][0-9a-z_-]{8,}\b/gi, value],
  [/\b[A-Z]{2,}[_-]\d+\b/g, value],
  [/\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/gi, value],
  // Three digits or more among letters: no word is like that.
  [/\b(?=(?:[a-z]*\d){3})(?=\d*[a-z])[0-9a-z]{10,}\b/gi, value],
  [/(?:(?<=^|[\s(=:,["'])[-+])?\d+(?:[.,:]\d+)*|\bNaN\b|-?\bInfinity\b/g, value],
  // Of a duration or a size, a person reads `1.2 s` in one death and `900 ms` in the next.
  [
    /(?<=<value>) ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|bytes?|[kKMGT]i?B|[AP]M)(?!\w)/g,
    '',
  ],
  [/<value>(?:[\s,.:/+-]{0,3}<value>)+/g, value],
  // A minifier renames variables but not methods; V8 prints whatever expression was called.
  [/^.*\.(?=[\w$]+ is not (?:a function|a constructor|iterable)\b)/, '<value>.'],
  [/^[^\s.]+(?:\[[^\]]*\])? is not (?=a function\b|a constructor\b|iterable\b)/, '<value> is not '],
  [/^Cannot access '[\w$]+' before/, "Cannot access '<value>' before"],
  [/(?<=^Class extends value ).*(?= is not a constructor or null$)/, value],
  [/(?<=^Invalid regular expression: )\/.*\/\w*(?=: )/, value],
  // What Node was given where it wanted something else.
  [/(?<=[.:] Received ).*$/, value],
  [/^(?:\w+ )?\S+ (is not iterable) \(cannot read property Symbol\(Symbol\.iterator\)\)$/, `${value} $1`],
  // Whether it was null or undefined is a matter of the data.
  [/(?<=^Cannot (?:read|set) properties of )(?:null|undefined)(?= \()/, value],
  [/(?<=^Cannot destructure property '[^']*' of )'[^\n]*' as it is (?:null|undefined)(?=\.?$)/, value],
  [/^(?:object null|undefined) is not (?=iterable\b)/, '<value> is not '],
];

/** The first line of a message without values that differ between deaths. */
export function normaliseMessage(message: string): string {
  // The text that is no JSON may have several lines, and is quoted with them.
  if (/^[^"]{0,60}".{0,400}" is not valid JSON$/s.test(message)) return 'not valid JSON';
  let text = clip(firstLine(message.slice(0, 2000)), 300);
  for (const [pattern, replacement] of volatile) text = text.replace(pattern, replacement);
  return clip(text, 200);
}
