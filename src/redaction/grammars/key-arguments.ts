/**
 * Functions that sign, encrypt or hash with a key in a known place: a table of names, what stands before them, and the place. A
 * literal there is a key unless it is an example, so that it may be made of words.
 */
import type { Page } from '../scan/page.ts';

interface KeyPlace {
  name: RegExp;
  /** What ends the text before the name. */
  before?: RegExp;
  at: number;
}

const places: KeyPlace[] = [
  // `jwt.sign(payload, key)`, `JWT.encode(payload, key, 'HS256')`
  {
    name: /^(?:sign|verify|encode|decode)(?:Sync|Async)?$/,
    before: /(?:jwt|jws|jsonwebtoken|jose)\w{0,12}(?:\.|::|->)$/i,
    at: 1,
  },
  { name: /^jwt(?:Sign|Verify|Encode|Decode)$/i, at: 1 },
  { name: /^(?:new|digest|new_hmac)$/, before: /\bhmac\.$/, at: 0 },
  { name: /^New$/, before: /\bhmac\.$/, at: 1 },
  { name: /^(?:hex|base64)?_?digest$/, before: /\bHMAC(?:\.|::)$/, at: 1 },
  { name: /^createHmac$/, at: 1 },
  { name: /^hash_hmac$/, at: 2 },
  {
    name: /^(?:SecretKeySpec|SymmetricSecurityKey|H(?:MAC|mac)(?:SHA|Sha)(?:1|256|384|512)|HMAC(?:256|384|512)|hmacShaKeyFor|Fernet|cookieParser|NewCipher)$/,
    at: 0,
  },
  { name: /^new$/, before: /\b(?:AES|DES3?|Blowfish|ChaCha20|ARC4)\.$/, at: 0 },
];

const reach = 32;

/** The places of functions with this name, whatever stands before it. */
export const keyPlacesOf = (name: string): readonly KeyPlace[] =>
  places.filter((place) => place.name.test(name));

/** The one of them that the text before the name at `start` allows. */
export function keyPlaceAt({ text }: Page, start: number, among: readonly KeyPlace[]): number | undefined {
  const before = text.slice(Math.max(0, start - reach), start);
  return among.find((place) => place.before?.test(before) ?? true)?.at;
}

/** What turns a literal into bytes: `Buffer.from("x")`, `[]byte("x")`, `Encoding.UTF8.GetBytes("x")`, `b"x"`. */
const conversion =
  /(?:(?:new )?(?:Buffer\.from|\[\]byte|(?:System\.Text\.)?Encoding\.\w{3,8}\.GetBytes|TextEncoder\(\)\.encode|bytes|bytearray|to_?[bB]ytes|(?:base64\.)?b64decode)\(\s{0,4})?(?:[bBrRuU]{1,2}(?=["']))?/y;

/** The position behind a conversion at `at`, or `at`. */
export function skipConversion({ text }: Page, at: number): number {
  conversion.lastIndex = at;
  return conversion.test(text) ? conversion.lastIndex : at;
}

/** The longest argument that is no literal. */
const longestArgument = 300;

const plain = /[^,()\n"'`]{0,60},|\s{0,4},/y;
const object = /\s{0,20}\{\s{0,20}(?:\}|\.\.\.|["'`]?[\w$-]{1,60}["'`]?\s{0,4}:)/y;

const endOf = (pattern: RegExp, { text }: Page, from: number): number => {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : 0;
};

/**
 * The position after the comma that ends the argument at `from`, or 0. An entry of a list counts as an argument (`login([user, 'x'])`),
 * and so does what follows a bracket that is never closed; a field of an object does not.
 */
export function nextArgument(page: Page, from: number): number {
  return endOf(object, page, from)
    ? behindArgument(page, from) || endOf(plain, page, from)
    : endOf(plain, page, from) || behindArgument(page, from);
}

/** Literals and brackets within the argument are skipped. */
function behindArgument({ units }: Page, from: number): number {
  let depth = 0;
  for (let i = from; i < from + longestArgument; i++) {
    const unit = units[i]!;
    if (unit === 34 || unit === 39 || unit === 96) {
      i = endOfLiteral(units, i);
      if (i === 0) return 0;
    } else if (unit === 40 || unit === 91 || unit === 123) depth += 1;
    else if (unit === 41 || unit === 93 || unit === 125) {
      if (depth === 0) return 0;
      depth -= 1;
    } else if (unit === 44 && depth === 0) return i + 1;
    else if (unit === 0 || unit === 59) return 0;
  }
  return 0;
}

/** The quote that closes the one at `start`, or 0. */
function endOfLiteral(units: Uint16Array, start: number): number {
  const quote = units[start]!;
  const isEscaped = units[start - 1] === 92;
  for (let i = start + 1; i < start + longestArgument; i++) {
    const unit = units[i]!;
    if (unit === quote) return i;
    if (unit === 92 && !isEscaped) i += 1;
    if (unit === 10 || unit === 0) return 0;
  }
  return 0;
}
