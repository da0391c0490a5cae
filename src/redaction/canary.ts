/**
 * Looks for one known value in finished bytes, in any encoding and also truncated: the last check before a part is sealed.
 * Deliberately shares no code with the detectors, so that one bug can't affect both. About 100 MB/s on text without escapes,
 * because every death waits for it.
 */

/** A truncated value counts if at least this many characters of either end remain. */
const shortestCut = 12;

/** True if `canary` (ASCII letters and digits, at least twelve) can be read from the bytes. */
export function findCanary(bytes: Uint8Array, canary: string): boolean {
  const search = searchFor(canary);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return readings(text).some((reading) => isIn(reading, search));
}

interface Search {
  needles: string[];
  /** Hexadecimal digits, optionally with a separator between the pairs, as in a printed buffer. */
  hex: RegExp;
}

/** The result is not cached: a snapshot of this heap would contain it, and it would be reported as a leak. */
function searchFor(canary: string): Search {
  const pieces = [canary.slice(0, shortestCut), canary.slice(-shortestCut)];
  const needles = [...pieces, [...canary].reverse().join(''), ...pieces.flatMap(base64Cores)];
  const hex = new RegExp(pieces.map(hexPattern).join('|'), 'i');
  return { needles: [...new Set(needles)], hex };
}

function isIn(text: string, { needles, hex }: Search): boolean {
  return needles.some((needle) => text.includes(needle)) || hex.test(text);
}

/**
 * The base64 of a piece at each of the three offsets in a base64 group, without the characters that also encode neighbouring
 * bytes.
 */
function base64Cores(piece: string): string[] {
  return [0, 1, 2].flatMap((lead) => {
    const text = Buffer.from(`${'\0'.repeat(lead)}${piece}`)
      .toString('base64')
      .replace(/=+$/, '');
    const core = text.slice(lead && lead + 1, (lead + piece.length) % 3 === 0 ? undefined : -1);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function hexPattern(piece: string): string {
  return [...piece].map((char) => char.charCodeAt(0).toString(16)).join('[ ,:]?');
}

/** An escape of a letter or a digit, as a canary contains nothing else, or of the `%`, `&` or `\` that begins another escape. */
const telling =
  /(?:%|\\u00|\\x|&#x)(?:2[56]|3\d|5c|[46][1-9a-f]|[57][\da])|&#(?:3[78]|4[89]|5[0-7]|6[5-9]|[78]\d|9[0-27-9]|1[01]\d|12[0-2]);|&amp;#/i;

/** The text itself, the text read as UTF-16, and the text with its escapes undone once and twice. */
function readings(text: string): string[] {
  const found = [text];
  if (text.includes('\0')) found.push(text.replaceAll('\0', ''));
  for (let depth = 0, inner = text; depth < 2 && telling.test(inner); depth++) {
    inner = undoEscapes(inner);
    found.push(inner);
  }
  return found;
}

/** Decodes percent signs, `\u` and `\x` escapes, numeric XML entities and `&amp;`. */
function undoEscapes(text: string): string {
  return text.replace(
    /%([0-9a-f]{2})|\\+u00([0-9a-f]{2})|\\+x([0-9a-f]{2})|&#x([0-9a-f]{2});|&#(\d{2,3});|&(amp);|\\+(?=["'/\\])/gi,
    (_, ...groups) => {
      const [percent, unicode, hex, entity, decimal, ampersand] = groups as (string | undefined)[];
      const digits = percent ?? unicode ?? hex ?? entity;
      if (digits) return String.fromCharCode(Number.parseInt(digits, 16));
      if (ampersand) return '&';
      return decimal ? String.fromCharCode(Number(decimal) & 255) : '';
    },
  );
}
