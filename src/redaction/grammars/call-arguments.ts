/**
 * Literals passed to a call as a credential: `setPassword("x")`, `basicAuth("user", "x")`, `createHmac("sha256", "x")`. The
 * function's name decides how much a literal must look like a credential. Numbers, variables and inner calls are not
 * literals.
 */
import type { NameBook } from '../names/name-book.ts';
import { judgeReceiver, judgeSelector, typesInto } from '../names/selectors.ts';
import type { Finding, Page } from '../scan/page.ts';
import { isOddlySpelt } from '../speech/keyword-secrets.ts';
import { isExampleWords } from '../values/example-values.ts';
import { isInvented, isPassphrase, isTypedWord } from '../values/plain-words.ts';
import { looksRandom } from '../values/randomness.ts';
import { isStandIn } from '../values/stand-ins.ts';
import { readQuoted, wholeLiteral } from '../values/value-span.ts';
import { looksChosen } from '../values/values.ts';
import { keyPlaceAt, keyPlacesOf, nextArgument, skipConversion } from './key-arguments.ts';

/** Functions that sign, hash or open with a key: only a random-looking argument counts. */
const takesKey = /^(?:sign|verify|\w{0,20}(?:Client|Sdk|Api|Auth)|(?:init|configure)\w{0,12})$/i;
/** Functions whose first argument is often the key of an account. */
const makesClient = /^(?:new)?\w{0,20}(?:Client|Sdk|Api)$/;
/** Functions that derive a key from a password or compare one. */
const takesPassword = /^(?:pbkdf2(?:Sync)?|scrypt(?:Sync)?|compare(?:Sync)?|hash_?pw|check_?pw)$/i;
/** Functions that take the algorithm first, then the key. */
const ciphers = /^create(?:Hmac|Cipheriv|Decipheriv)$/;
/** Functions that take the user first, then the password. */
const takesPair =
  /^(?:log_?in|sign_?in|begin|authenticate|auth|(?:set_?|http_?)?basic_?auth|\w{0,20}Credentials?|PDO|mysqli?_connect|getConnection)$/i;
/** Like takesPair, but the other arguments are often names of hosts and databases. */
const connects =
  /^(?:__construct|(?:create_?)?(?:connect|connection)|p?connect_?(?:db|database)?|open|dial|init)$/i;
/** Functions named after their argument: `setPassword`, `withToken`, `SecretStr`. */
const carries =
  /^(?:set|with|add|use|new|from|is|add_|use_|set_)?_?[A-Za-z_]{0,12}(?:password|passwd|passphrase|token|secret|(?:api|secret|private|symmetric|encryption|signing|master)_?key)(?:_?str)?$/i;
/** Functions that compare two texts, one of which is the receiver or the first argument: `password.equals("x")`. */
const compares =
  /^(?:equals(?:IgnoreCase)?|contentEquals|str(?:n|case|ncase)?cmp|memcmp|hash_equals|timingSafeEqual|(?:constant_time_)?compare(?:_digest)?|secure_compare)$/;
const longestName = 40;
const mostArguments = 6;

/**
 * There is a parenthesis at `end`, right after a name that starts at `start`. Pushes the findings and returns the last one's
 * end, or 0. What an argument before it contains is not looked at here, so the caller must: `login({ password: 'x' }, 'y')`.
 */
export function findInCall(page: Page, names: NameBook, start: number, end: number, out: Finding[]): number {
  if (!hasLiteral(page.units, end + 1)) return 0;
  const name = page.text.slice(Math.max(start, end - longestName), end);
  const callee = calleeOf(name);
  const judge =
    judgeOfKey(page, start, callee) ??
    (callee.judge === judgeCarried && names.isAllowed(name) ? undefined : callee.judge) ??
    (callee.types ? judgeTyped(page, start) : undefined) ??
    (callee.compares ? judgeCompared(page, names, start, end) : undefined);
  if (!judge) return 0;
  let at = end + 1;
  let found = 0;
  let isSimple = true;
  for (let index = 0; index < mostArguments; index++) {
    while (isSpace(page.units[at]!)) at += 1;
    const span = wholeLiteral(page, readQuoted(page, callee.places.length ? skipConversion(page, at) : at));
    if (span && !span.resume && judge(page.text.slice(span.start, span.end), index)) {
      out.push({ start: span.start, end: span.end, rule: 'call-argument' });
      if (isSimple) found = span.end;
      else found ||= end + 1;
    }
    const from = span?.close ?? at;
    const comma = nextArgument(page, from);
    if (comma === 0) return found;
    isSimple &&= !holdsMore(page.units, from, comma);
    at = comma;
  }
  return found;
}

/** A literal or a bracket. */
function holdsMore(units: Uint16Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const unit = units[i]!;
    if (unit === 34 || unit === 39 || unit === 96 || unit === 40 || unit === 91 || unit === 123) return true;
  }
  return false;
}

const isSpace = (unit: number): boolean => unit === 32 || unit === 10 || unit === 13 || unit === 9;

/** Whatever its arguments are; the name alone decides. */
export function takesNoCredential(page: Page, start: number, end: number): boolean {
  if (end - start > longestName) return false;
  const { judge, types, compares, places } = calleeOf(page.text.slice(start, end));
  return judge === undefined && !types && !compares && places.length === 0;
}

/** A quote opens before the call's end. Most calls have none, and cost no more than this check. */
export function hasLiteral(units: Uint16Array, from: number): boolean {
  for (let i = from; i < from + 60; i++) {
    const unit = units[i]!;
    if (unit === 34 || unit === 39 || unit === 96) return true;
    if (unit === 41 || unit === 10 || unit === 47 || unit === 0) return false;
  }
  return false;
}

type Judge = (value: string, index: number) => boolean;

/** What a function's name implies for its arguments. */
interface Callee {
  judge: Judge | undefined;
  /** The function types its argument into a field. */
  types: boolean;
  /** The function compares its arguments. */
  compares: boolean;
  /** Where it takes a key. */
  places: ReturnType<typeof keyPlacesOf>;
}

/** Limit of the cache by name; it is cleared when full. */
const mostCallees = 2048;
const callees = new Map<string, Callee>();

function calleeOf(name: string): Callee {
  const known = callees.get(name);
  if (known) return known;
  const callee = {
    judge: judgeOf(name),
    types: typesInto.test(name),
    compares: compares.test(name),
    places: keyPlacesOf(name),
  };
  if (callees.size >= mostCallees) callees.clear();
  callees.set(name, callee);
  return callee;
}

/** Of a function that takes a key in a certain place; otherwise it is judged by its name alone. */
function judgeOfKey(page: Page, start: number, { judge, places }: Callee): Judge | undefined {
  const at = places.length ? keyPlaceAt(page, start, places) : undefined;
  if (at === undefined) return undefined;
  return (value, index) => (index === at && isChosenKey(value)) || judge?.(value, index) === true;
}

const isChosenKey = (value: string): boolean =>
  isPassword(value) ||
  ((isInvented(value) || isPassphrase(value) || (/[!#*]$/.test(value) && isTypedWord(value))) &&
    !isExampleWords(value));

const judgeCarried: Judge = (value) =>
  isPassword(value) && !/^["'\w]*\.[a-z]+[A-Z][A-Za-z]+["']?$/.test(value);

function judgeOf(name: string): Judge | undefined {
  if (takesPassword.test(name)) return (value, index) => index === 0 && isPassword(value);
  const place = passwordAt[name];
  if (place !== undefined) return (value, index) => index === place && value.length >= 4 && !isStandIn(value);
  if (takesPair.test(name)) return (value, index) => index > 0 && (isPassword(value) || isInvented(value));
  if (connects.test(name))
    return (value, index) => index > 0 && isPassword(value) && (/_/.test(value) || isOddlySpelt(value));
  if (encodes.test(name)) return isPair;
  if (ciphers.test(name)) return (value, index) => index > 0 && (isHex(value) || isDrawn(value));
  // `new Client('<hex digits>')`: in other calls a digest is what was hashed.
  if (makesClient.test(name))
    return (value, index) => isDrawn(value) || (index === 0 && isHex(value) && /[a-f]/i.test(value));
  if (takesKey.test(name)) return isDrawn;
  return carries.test(name) ? judgeCarried : undefined;
}

/** `fill('#password', 'x')`, `getByLabel('Password').fill('x')`. */
function judgeTyped(page: Page, start: number): Judge {
  let verdict = judgeReceiver(page, start);
  const valueAt = verdict ? 0 : 1;
  return (value, index) => {
    if (!verdict && index === 0) verdict = judgeSelector(value);
    if (!verdict || index !== valueAt) return false;
    return (
      !isStandIn(value) &&
      (verdict.strength === 3 ? value.length >= 3 : /\d/.test(value)) &&
      !/\s/.test(value)
    );
  };
}

const receiver = /([A-Za-z_]\w{1,60})(?:\(\))?\.$/;
const firstArgument = /\s{0,8}[&*$]?(?:[\w$]{1,40}(?:\.|->|::)){0,4}([A-Za-z_]\w{1,60})\s{0,8},/y;

/** `password.equals("x")`, `strcmp(pass, "x")`: compared with a variable that is called a password. */
function judgeCompared(page: Page, names: NameBook, start: number, end: number): Judge | undefined {
  firstArgument.lastIndex = end + 1;
  const name =
    receiver.exec(page.text.slice(Math.max(0, start - 64), start))?.[1] ?? firstArgument.exec(page.text)?.[1];
  const verdict = name === undefined ? undefined : names.judge(name);
  const isSecret = verdict?.strength === 3 || verdict?.rule === 'password';
  if (!isSecret || verdict.form) return undefined;
  return (value) => isPassword(value) || (value.length > 3 && !isStandIn(value) && isTypedWord(value));
}

/** Positions of arguments that are passwords, whatever they look like. */
const passwordAt: Record<string, number> = {
  PDO: 2,
  mysqli_connect: 2,
  mysql_connect: 2,
  mysqli: 2,
  getConnection: 2,
  Sequelize: 2,
  NetworkCredential: 1,
  twilio: 1,
  Twilio: 1,
};
/** Functions that encode a user and a password for a header. */
const encodes = /^(?:btoa|b64_?encode|base64_encode|encode_?base64)$/i;
const isPair = (value: string): boolean => {
  const password = /^[\w.@-]{1,64}:([^\s:]{4,200})$/.exec(value)?.[1];
  return password !== undefined && !isStandIn(password) && !isExampleWords(password) && !isPattern(password);
};

const isDrawn = (value: string): boolean => looksRandom(value, 12) && looksChosen(value);
const isHex = (value: string): boolean => /^[0-9a-f]{32,128}$/i.test(value);
const isPassword = (value: string): boolean =>
  looksChosen(value) &&
  !isStandIn(value) &&
  !isExampleWords(value) &&
  !isPattern(value) &&
  !/^[\w.-]+\.[a-z]{2,5}$/.test(value);
/** `createToken('GTE0', '^\\s*>=\\s*0$')`, and a template: a pattern, not a credential. */
const isPattern = (value: string): boolean =>
  /\\[sdwbSDWB*.]|\(\?|\[\^|\[\w-\w|^\^.*\$$|\$\{.*\$\{|^\d\|\[/.test(value);
