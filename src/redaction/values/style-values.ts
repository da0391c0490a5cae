/** What style sheets write behind names like `--token-keyword` and `.input--password`. */

/** `#d73a49`, `1.5rem` */
export const isStyleDatum = (value: string): boolean =>
  /^#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.test(value) ||
  /^-?(?:\d{1,5}|\d{0,5}\.\d{1,5})(?:rem|em|px|vh|vw|fr|pt|deg)$/.test(value);

const state =
  /^:?(?:focus|hover|active|disabled|checked|(?:in)?valid|not|first|last|nth|only|before|after|read|placeholder|autofill|empty|required|optional|root|is|where)(?:-[a-z]+){0,3}(?:[+>~{[(]|[.,:]{1,2}[#.:]|\s{0,4}[{>+~])/;

/** `.input--password:focus+.x{`: a state of an element. */
export const isElementState = (value: string): boolean => state.test(value);
