/** Splits a name into its words, in lower case: `APIKey2`, `api-key`, `x.apiKey` → `['api', 'key']`. */
export function splitName(name: string): string[] {
  const small = name.toLowerCase();
  // If a letter changes the length in lower case, capitals can't be used to split the name.
  const written = small.length === name.length ? name : small;
  const words: string[] = [];
  let start = 0;
  for (let i = 0; i <= small.length; i++) {
    const isInside = i < small.length && isLetterOrDigit(small.charCodeAt(i));
    if (isInside && !(i > start && isHump(written, i))) continue;
    if (i > start) pushWord(words, small.slice(start, i));
    start = isInside ? i : i + 1;
  }
  return words;
}

/** A capital after a lower-case letter or a digit, or the last of several before a lower-case letter. */
function isHump(name: string, i: number): boolean {
  if (!isCapital(name.charCodeAt(i))) return false;
  const before = name.charCodeAt(i - 1);
  if (!isCapital(before)) return isLetterOrDigit(before);
  const after = name.charCodeAt(i + 1);
  return after > 96 && after < 123;
}

const isCapital = (unit: number): boolean => unit > 64 && unit < 91;
const isLetterOrDigit = (unit: number): boolean => (unit > 96 && unit < 123) || (unit > 47 && unit < 58);

/** Drops the number after three or more letters; a number alone is not a word. */
function pushWord(words: string[], word: string): void {
  let end = word.length;
  while (end > 0 && word.charCodeAt(end - 1) < 58) end -= 1;
  if (end === 0) return;
  const isNumbered = end > 2 && end < word.length && word.length - end < 4 && hasLettersOnly(word, end);
  words.push(isNumbered ? word.slice(0, end) : word);
}

function hasLettersOnly(word: string, end: number): boolean {
  for (let i = 0; i < end; i++) if (word.charCodeAt(i) < 97) return false;
  return true;
}
