/**
 * The forms of a known value in text: plain, JSON-escaped, percent-encoded, XML-escaped, hexadecimal, and base64 at the three
 * offsets that a value can have within a longer text. Pure.
 */
export interface KnownForm {
  text: string;
  /** Characters next to a match that may contain bits of the value. */
  before: number;
  after: number;
  /** Could be part of an ordinary word: only found if no letter or digit is next to it. */
  bounded: boolean;
}

/** Longer values are split into pieces of this length. */
const longestPiece = 1024;
/** Shorter encoded forms would be found by chance. */
const shortestEncoded = 6;
/** Shorter values need a boundary on both sides. */
const shortestUnbounded = 12;

export function formsOf(value: string): KnownForm[] {
  const seen = new Map<string, KnownForm>();
  const add = (text: string, before = 0, after = 0): void => {
    if (text.length < (before || after ? shortestEncoded : 4) || seen.has(text)) return;
    seen.set(text, {
      text,
      before,
      after,
      bounded: after === 0 && text.length < shortestUnbounded && /^[\w-]+$/.test(text),
    });
  };
  for (const piece of piecesOf(value)) {
    add(piece);
    for (const text of escapedForms(piece)) add(text);
    if (piece.length < 5) continue;
    const bytes = Buffer.from(piece, 'utf8');
    for (const [text, before, after] of base64Forms(bytes)) add(text, before, after);
    const hex = bytes.toString('hex');
    add(hex, 0, 0);
    add(hex.toUpperCase());
  }
  return [...seen.values()];
}

/** The value, in pieces if it is long, and each of its lines if it has several. */
function piecesOf(value: string): string[] {
  const pieces: string[] = [];
  for (let i = 0; i < value.length; i += longestPiece) pieces.push(value.slice(i, i + longestPiece));
  for (const line of value.split(/\r?\n/))
    if (line.length >= 16 && line.length < value.length) pieces.push(line);
  return pieces.filter((piece) => piece.length >= 4 || piece.length === value.length);
}

function escapedForms(value: string): string[] {
  if (/^[\w.~-]*$/.test(value)) return [];
  const forms: string[] = [];
  const json = JSON.stringify(value).slice(1, -1);
  forms.push(json, JSON.stringify(json).slice(1, -1));
  forms.push(json.replace(/[\u0080-\uffff]/g, unicodeEscape), json.replaceAll('/', '\\/'));
  forms.push(json.replace(/[<>&'\u2028\u2029]/g, unicodeEscape));
  if (!/\p{Surrogate}/u.test(value)) {
    const percent = encodeURIComponent(value);
    const strict = percent.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    for (const text of [percent, strict, encodeURI(value)])
      forms.push(text, lowerPercent(text), text.replaceAll('%20', '+'));
    forms.push(encodeURIComponent(percent));
  }
  forms.push(xmlEscape(value, '&apos;'), xmlEscape(value, '&#39;'), xmlEscape(value, "'"));
  forms.push(`'${value.replaceAll("'", `'\\''`)}'`.slice(1, -1), value.replaceAll("'", "\\'"));
  return forms;
}

const unicodeEscape = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
const lowerPercent = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

function xmlEscape(value: string, apostrophe: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe);
}

/** For each of three offsets, the part of the base64 that only depends on the value and not on the text around it. */
function base64Forms(bytes: Buffer): [text: string, before: number, after: number][] {
  const forms: [string, number, number][] = [];
  for (let offset = 0; offset < 3; offset++) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const cutFront = offset === 0 ? 0 : offset + 1;
    const cutBack = (offset + bytes.length) % 3 === 0 ? 0 : 1;
    const core = encoded.slice(cutFront, encoded.length - cutBack);
    const url = core.replaceAll('+', '-').replaceAll('/', '_');
    for (const text of url === core ? [core] : [core, url]) forms.push([text, cutFront, 3]);
  }
  return forms;
}
