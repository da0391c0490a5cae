/**
 * Looks for one known value in finished bytes, in any encoding or cut: the last check before a part is sealed. Shares
 * nothing with the detectors on purpose, so that one mistake does not blind both. Some 100 MB/s where nothing is
 * escaped, because every death waits for it.
 */

/** A cut value counts when so much of it is left at either end. */
const shortestCut = 12;

/** True when `canary` (ASCII letters and digits, at least twelve) can be read out of the bytes. */
export function findCanary(bytes: Uint8Array, canary: string): boolean {
  const search = searchFor(canary);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return readings(text).some((reading) => isIn(reading, search));
}

interface Search {
  needles: string[];
  /** Hexadecimal digits, perhaps with something between the pairs, as a printed buffer has them. */
  hex: RegExp;
}

/** Nothing of it is kept: in a snapshot of this heap it would be found, and taken for a leak. */
function searchFor(canary: string): Search {
  const pieces = [canary.slice(0, shortestCut), canary.slice(-shortestCut)];
  const needles = [...pieces, [...canary].reverse().join(''), ...pieces.flatMap(base64Cores)];
  const hex = new RegExp(pieces.map(hexPattern).join('|'), 'i');
  return { needles: [...new Set(needles)], hex };
}

function isIn(text: string, { needles, hex }: Search): boolean {
  return needles.some((needle) => text.includes(needle)) || hex.test(text);
}

/** A value may start at each of three places of a base64 group; what its neighbours have no share in is the core. */
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

/** An escape of a letter or a digit: others can hide nothing of a canary. */
const telling =
  /(?:%|\\u00|\\x|&#x)(?:3\d|[46][1-9a-f]|[57][\da])|&#(?:4[89]|5[0-7]|6[5-9]|[78]\d|9[07-9]|1[01]\d|12[0-2]);/i;

/** The text as it is, as UTF-16, and with its escapes undone once and twice. */
function readings(text: string): string[] {
  const found = [text];
  if (text.includes('\0')) found.push(text.replaceAll('\0', ''));
  for (let depth = 0, inner = text; depth < 2 && telling.test(inner); depth++) {
    inner = undoEscapes(inner);
    found.push(inner);
  }
  return found;
}

/** Percent signs, `\u` and `\x` escapes, and numbered XML entities become the characters they stand for. */
function undoEscapes(text: string): string {
  return text.replace(
    /%([0-9a-f]{2})|\\+u00([0-9a-f]{2})|\\+x([0-9a-f]{2})|&#x([0-9a-f]{2});|&#(\d{2,3});|\\+(?=["'/\\])/gi,
    (_, ...groups) => {
      const [percent, unicode, hex, entity, decimal] = groups as (string | undefined)[];
      const digits = percent ?? unicode ?? hex ?? entity;
      if (digits) return String.fromCharCode(Number.parseInt(digits, 16));
      return decimal ? String.fromCharCode(Number(decimal) & 255) : '';
    },
  );
}
