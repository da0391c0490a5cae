/**
 * Looks for one known value in finished bytes, in any encoding or cut: the last check before a part is sealed. Shares
 * nothing with the detectors on purpose, so that one mistake does not blind both: it undoes encodings in the bytes,
 * where they apply them to the value.
 */

/** A cut value counts when so much of it is left at either end. */
const shortestCut = 12;

/** True when `canary` (ASCII, at least twelve characters) can be read out of the bytes. */
export function findCanary(bytes: Uint8Array, canary: string): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const pieces = [canary.slice(0, shortestCut), canary.slice(-shortestCut), [...canary].reverse().join('')];
  return readings(text).some((reading) => pieces.some((piece) => reading.includes(piece)));
}

/** The text as it is, and with each encoding undone. Laid out so that no reading is made twice. */
function readings(text: string): string[] {
  const plain = [text, text.replaceAll('\0', '')];
  const unescaped = undoEscapes(text);
  if (unescaped !== text) plain.push(unescaped, undoEscapes(unescaped));
  return [...plain, ...plain.slice(2).flatMap(decodedRuns), ...decodedRuns(text)];
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

/** Runs of base64 at each of four phases, since a value may start anywhere in a run; runs of hexadecimal at two. */
function decodedRuns(text: string): string[] {
  const found: string[] = [];
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{16,}/g)) {
    for (let phase = 0; phase < 4; phase++)
      found.push(Buffer.from(run.slice(phase), 'base64').toString('latin1'));
  }
  for (const [run] of text.matchAll(/(?:[0-9a-f]{2}[ ,:]?){12,}/gi)) {
    const digits = run.replace(/[ ,:]/g, '');
    found.push(
      Buffer.from(digits, 'hex').toString('latin1'),
      Buffer.from(digits.slice(1), 'hex').toString('latin1'),
    );
  }
  return [found.join('\n')];
}
