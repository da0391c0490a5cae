/**
 * The scripts that a stack's text names: `/srv/app.js:1:2`, `file:///srv/app.mjs:3:4`. Searched backwards from the file
 * extensions, because the text also contains the message, which may have megabytes without a blank: an expression that can
 * start anywhere takes quadratic time there (100 KB of hexadecimal digits in a message delayed a death by 3 s).
 */
const ending = /\.[cm]?[jt]sx?(?=:\d)/g;
/** A frame of the program's own code. Only blanks before it, because a run of newlines in a message would be searched from each of them. */
const ownFrame = /^[ \t]+at (?!node:|.*(?:\/node_modules\/|[( ]node:)).*:\d+:\d+\)?$/m;
const longestPath = 4096;
const isBeforePath = /[\s():]/;
const isBeforeName = /[/\\\s(]/;
const scheme = 'file:';

/** Absolute paths and `file:` URLs. */
export function scriptPathsIn(text: string): string[] {
  return endings(text, isBeforePath).flatMap(({ start, stem, end }) => {
    const slash = text.indexOf('/', start);
    if (slash < 0 || slash + 1 >= stem) return [];
    const isUrl = slash === start && text.startsWith(`${scheme}///`, start - scheme.length);
    return [text.slice(isUrl ? start - scheme.length : slash, end)];
  });
}

/** The base names of the paths. */
export function scriptNamesIn(text: string): string[] {
  return endings(text, isBeforeName).map(({ start, end }) => text.slice(start, end));
}

export function hasOwnFrame(text: string): boolean {
  return ownFrame.test(text);
}

interface Found {
  start: number;
  /** Where the extension begins. */
  stem: number;
  end: number;
}

function endings(text: string, isBefore: RegExp): Found[] {
  const found: Found[] = [];
  let from = 0;
  for (const { index, 0: suffix } of text.matchAll(ending)) {
    const lowest = Math.max(from, index - longestPath);
    let start = index;
    while (start > lowest && !isBefore.test(text[start - 1]!)) start--;
    from = index + suffix.length;
    if (start < index) found.push({ start, stem: index, end: from });
  }
  return found;
}
