/**
 * What may stand between a name's sign and its literal: a type (`: str = "x"`), a default (`process.env.KEY || "x"`), a
 * call or constructor (`SecretStr("x")`, `[]string{"x"}`), a printed type (`string(9) "x"`), a YAML anchor or tag.
 */
import type { Page } from './page.ts';
import { readQuoted, type ValueSpan } from './value-span.ts';
import { looksChosen } from './values.ts';

const opens = `${String.raw`(?:[bNLru](?=["'])|(?=\\*["'`}\`]))`;
const typed = new RegExp(
  String.raw`(?:&(?:'\w{1,20} )?|\*)?[A-Za-z][\w.<>[\]|? ]{0,40}?[ \t]?=[ \t]{0,4}${opens}`,
  'y',
);
const fallback = new RegExp(
  String.raw`[\w.$?[\]'"():-]{1,100}?[ \t]{0,4}(?:\|\||\?\?|\bor\b|:-)[ \t]{0,4}${opens}`,
  'y',
);
const wrapped = new RegExp(String.raw`(?:new )?([A-Za-z_[\]][\w.:[\]-]{0,60})(?:[({ ]{1,2})${opens}`, 'y');
const braced = new RegExp(String.raw`\{[ ]?${opens}`, 'y');
const printed = new RegExp(String.raw`\s{0,12}string\(\d{1,6}\)[ ]${opens}`, 'y');
const markers = /(?:&[A-Za-z][\w-]{0,40}|!!(?:str|string|binary)|!unsafe)[ \t]{1,4}(?=[^\s=])/y;

/** Calls that only carry their literal; any other may do something else with it. */
const carriers =
  /secret|some|just|string|bytes|str$|password|passwd|sensitive|masked|opaque|quote|from$|^new|literal|^\[\]/i;

/** The literal behind a wrapping that starts at `at`. */
export function readWrapped(page: Page, at: number): ValueSpan | undefined {
  const first = page.units[at]!;
  if (first === 123) return readBraced(page, at);
  const plain = literalBehind(page, typed, at) ?? literalBehind(page, printed, at);
  if (plain) return plain;
  const other = literalBehind(page, fallback, at);
  if (other) return isChosen(page, other) ? other : undefined;
  wrapped.lastIndex = at;
  const name = wrapped.exec(page.text)?.[1];
  if (name === undefined) return undefined;
  const span = readQuoted(page, wrapped.lastIndex);
  return span && (carriers.test(name) || isChosen(page, span)) ? span : undefined;
}

function literalBehind(page: Page, pattern: RegExp, at: number): ValueSpan | undefined {
  pattern.lastIndex = at;
  return pattern.test(page.text) ? readQuoted(page, pattern.lastIndex) : undefined;
}

/** `={"x"}`, as JSX has it: an object would go on with a colon. */
function readBraced(page: Page, at: number): ValueSpan | undefined {
  const span = literalBehind(page, braced, at);
  return span && page.units[span.close] === 125 ? span : undefined;
}

const isChosen = (page: Page, span: ValueSpan): boolean =>
  looksChosen(page.text.slice(span.start, Math.min(span.end, span.start + 300)));

/** Behind a YAML anchor or tag at `at`. */
export function skipMarker(page: Page, at: number): number {
  if (page.units[at] !== 38 && page.units[at] !== 33) return at;
  markers.lastIndex = at;
  return markers.test(page.text) ? markers.lastIndex : at;
}
