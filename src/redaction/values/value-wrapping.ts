/**
 * What may be between a name's sign and its literal: a type (`: str = "x"`), a default (`process.env.KEY || "x"`), a call or
 * constructor (`SecretStr("x")`, `[]string{"x"}`), a printed type (`string(9) "x"`), a YAML anchor or tag.
 */
import { listGap } from '../scan/escapes.ts';
import type { Page } from '../scan/page.ts';
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

/** Calls that only wrap their literal; other calls may use it for something else. */
const carriers =
  /secret|some|just|string|bytes|str$|password|passwd|sensitive|masked|opaque|quote|from$|^new|literal|^\[\]/i;

/** Calls that take the name of what they return: `getSecret('prod/db')`. */
const fetches =
  /^(?:get|fetch|read|load|find|resolve|look_?up|retrieve)(?=[A-Z_])(?!\w*(?:[fF]rom|[lL]iteral))/;

/** The literal in a wrapping that starts at `at`. */
export function readWrapped(page: Page, at: number): ValueSpan | undefined {
  const first = page.units[at]!;
  if (first === 123) return readBraced(page, at);
  const plain = literalBehind(page, typed, at) ?? literalBehind(page, printed, at);
  if (plain) return plain;
  const other = literalBehind(page, fallback, at);
  if (other) return isChosen(page, other) ? other : undefined;
  wrapped.lastIndex = at;
  const name = wrapped.exec(page.text)?.[1];
  if (name === undefined || /^(?:require|import|resolve)$/.test(name)) return undefined;
  const span = readQuoted(page, wrapped.lastIndex);
  return span && ((carriers.test(name) && !fetches.test(name)) || isChosen(page, span)) ? span : undefined;
}

function literalBehind(page: Page, pattern: RegExp, at: number): ValueSpan | undefined {
  pattern.lastIndex = at;
  return pattern.test(page.text) ? readQuoted(page, pattern.lastIndex) : undefined;
}

/** `={"x"}` in JSX. In an object, a colon would follow. */
function readBraced(page: Page, at: number): ValueSpan | undefined {
  const span = literalBehind(page, braced, at);
  return span && page.units[span.close] === 125 ? span : undefined;
}

const isChosen = (page: Page, span: ValueSpan): boolean =>
  looksChosen(page.text.slice(span.start, Math.min(span.end, span.start + 300)));

const braces = /\{([^{}\s"'`,:]{6,128})\}(?=[;"'`\s&]|$)/y;
const call = /[A-Za-z][\w.]{0,30}\(([^\s()"'`,]{6,1000})\)/y;

/**
 * `{value}` of ODBC, `Str(value)` and `Some(value)` as types in logs. The value must look chosen, because code looks the
 * same.
 */
export function readEnclosed(page: Page, at: number): ValueSpan | undefined {
  const pattern = page.units[at] === 123 ? braces : call;
  pattern.lastIndex = at;
  const value = pattern.exec(page.text)?.[1];
  if (value === undefined || !looksChosen(value) || /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(value))
    return undefined;
  const start = page.text.indexOf(value, at);
  return { start, end: start + value.length, close: start + value.length + 1, quoted: true };
}

const byteList = new RegExp(
  String.raw`(?:(?:new )?[A-Z]\w{2,20}(?:\(\d{1,9}\))?[ (]{0,2})?\[${listGap}((?:(?:\d{1,3}|0x[0-9a-fA-F]{2}),${listGap}){7,600}(?:\d{1,3}|0x[0-9a-fA-F]{2}))|<Buffer ((?:[0-9a-f]{2} ?){6,60})`,
  'y',
);

/** Eight or more bytes in a list, or as util.inspect prints a buffer. `bare`: a list of numbers. */
export function readBytes(page: Page, at: number): { start: number; end: number; bare: boolean } | undefined {
  const unit = page.units[at]!;
  if (unit !== 91 && unit !== 60 && !(unit >= 65 && unit <= 90) && unit !== 110) return undefined;
  byteList.lastIndex = at;
  const match = byteList.exec(page.text);
  if (!match) return undefined;
  const list = match[1] ?? match[2]!.trimEnd();
  const start = page.text.indexOf(list, at);
  return { start, end: start + list.length, bare: match[1] !== undefined };
}

/** The visibility of a property that PHP prints, after its sign, or the start of an Erlang binary. */
const visibility = /(?:\\*"?[\w\\]{1,80}\\*"?:)?(?:protected|private)\]\s?=>\s{0,20}|<<(?=\\*")/y;

export function skipVisibility(page: Page, at: number): number {
  const unit = page.units[at]!;
  if (unit !== 112 && unit !== 34 && unit !== 60 && !(unit >= 65 && unit <= 90)) return at;
  visibility.lastIndex = at;
  return visibility.test(page.text) ? visibility.lastIndex : at;
}

/** `password: "" => "x"`: the previous, empty value. */
const replaced = /(["'])\1 [=-]> (?=["'])/y;

/** The position after a YAML anchor or tag at `at`, or after an empty previous value. */
export function skipMarker(page: Page, at: number): number {
  replaced.lastIndex = at;
  if (replaced.test(page.text)) return replaced.lastIndex;
  if (page.units[at] !== 38 && page.units[at] !== 33) return at;
  markers.lastIndex = at;
  return markers.test(page.text) ? markers.lastIndex : at;
}
