/** XML and HTML: the text of an element, and the name of a tag that has attributes. Knows nothing about secrets. */
import type { Page } from '../scan/page.ts';
import type { ValueSpan } from '../values/value-span.ts';

/** The text between the tags, without blanks and the brackets of CDATA. */
const content = /(?:\s|\\{1,8}[nrt]){0,60}(?:<!\[CDATA\[)?([^<"\n\\&\]]{1,4096}(?=[<"\n\\&\]]))/y;
const openTag = /(?:<|&lt;|\\u003c)(?:[\w-]{1,40}:)?([A-Za-z][\w.-]{1,60})\s[^<>]{1,180}$/;

/** For `<name attribute="x">`, in which the `>` doesn't follow the name directly. */
export function elementName(page: Page, place: { sign: number }): { start: number; end: number } | undefined {
  const unit = page.units[place.sign - 1]!;
  if (unit !== 34 && unit !== 39) return undefined;
  const before = page.text.slice(Math.max(0, place.sign - 240), place.sign);
  const match = openTag.exec(before);
  if (!match) return undefined;
  const start = place.sign - before.length + match.index + match[0].indexOf(match[1]!);
  return { start, end: start + match[1]!.length };
}

/** `<name>`, and not `count>0`. A namespace may precede the name. */
export const isTagName = ({ text }: Page, place: { start: number }): boolean =>
  /(?:<|&lt;|&#60;|u003c|%3C|:)$/i.test(text.slice(Math.max(0, place.start - 6), place.start));

/** The text after the `>` that ends before `from`. */
export function elementText(page: Page, from: number): ValueSpan | undefined {
  content.lastIndex = from;
  const match = content.exec(page.text);
  if (!match) return undefined;
  const end = content.lastIndex;
  // `Authorization: Bearer <token>`, and another line.
  const isClosed = page.text.startsWith('</', end) || page.text.startsWith(']]>', end);
  if (!isClosed && /[\r\n]/.test(page.text.slice(from, end - match[1]!.length))) return undefined;
  return { start: end - match[1]!.length, end, close: end, quoted: true };
}

const openElement = /<([A-Za-z][\w.:-]{1,60}) (?:[\w:-]{1,30}="[^"<>]{0,40}" ?){0,2}$/;

/** The name of the element whose attribute's sign is at `sign`: `<apiKey value="x"/>`. */
export function elementAround(
  { text, units }: Page,
  place: { start: number; sign: number },
): string | undefined {
  if (units[place.sign] !== 61 || units[place.start - 1] !== 32) return undefined;
  return openElement.exec(text.slice(Math.max(0, place.start - 120), place.start))?.[1];
}

const parent = /<(?:\w{1,20}:)?([A-Za-z][\w.-]{1,60})(?: [^<>]{0,80})?>\s{0,60}<$/;

/** The name of the element that opens right before the one whose name is at `start`: `<Password><Value>x`. */
export function parentElement({ text, units }: Page, place: { start: number }): string | undefined {
  if (units[place.start - 1] !== 60) return undefined;
  return parent.exec(text.slice(Math.max(0, place.start - 200), place.start))?.[1];
}

/** `Array<PropertyKey> | boolean`, `new <T extends WeakKey>(target`, `KEY=<YOUR-KEY>`: the `>` doesn't end a tag. */
export function isTypeArgument({ text, units }: Page, place: { start: number }, span: ValueSpan): boolean {
  if (units[span.end] === 60 && units[span.end + 1] === 47) return false;
  if (units[place.start - 1] === 60 && /[\w=]/.test(text[place.start - 2] ?? '')) return true;
  // `'Bearer <access_token>' }`: the quote closes a string that opened before the name.
  return /^\.[a-z]{2,5}\b|^[^\w]*$|^[\s`]*[()[{}=|,;&:?`]|^['"]\s?[)}\],;]/.test(
    text.slice(span.start, span.start + 4),
  );
}
