/**
 * The forms in which one known value may stand in text: plain, JSON-escaped, percent-encoded, XML-escaped, hexadecimal,
 * and base64 at the three offsets a value may have inside a longer text. Pure.
 */
export interface KnownForm {
  text: string;
  /** Characters beside a match that may hold bits of the value. */
  before: number;
  after: number;
  /** Shares its letters with ordinary words: only found where no letter or digit stands beside it. */
  bounded: boolean;
}

/** Longer values are cut into pieces of this length. */
const longestPiece = 1024;
/** Shorter encoded forms would be found by chance. */
const shortestEncoded = 6;
/** Values shorter than this must stand alone. */
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

/** The value whole or in pieces, and its lines where it has several. */
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

/** What of the base64 of any text around the value depends on the value alone, at each of three offsets. */
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
