/**
 * Values that tests and documentation contain in place of a secret: `secret123`, `1234567890abcdef`, the tokens printed in
 * standards. Some are also passwords that people use, so most are kept only in a literal of a program, never in a setting.
 */
import { isSequence } from './program-values.ts';

let words: Set<string> | undefined;

/** Words of which such values are made. */
function isExampleWord(word: string): boolean {
  words ??= new Set(
    `password passwords passwd passphrase passcode pass pwd pw secret secrets token tokens key keys apikey api auth access
    refresh bearer jwt session cookie client server app signing encryption credentials test tests testing tester foo bar baz
    qux quux foobar demo example sample dummy fake mock stub my your our super very top really hard guess not to the a an of
    some any this is so secure strong weak wrong bad good new old current other another first second third one two invalid valid
    correct incorrect changed changeme change me here please keyboard cat shh hello world abc xyz string value default hidden
    salt for horse battery staple existing jsonwebtoken long longer short random totally real sec format signature payload header expired different something somewhere
    from simple with more than at least minimum must be phrase chars characters bytes letters thirty two bigger`.split(
      /\s+/,
    ),
  );
  return words.has(word) || /^sh{2,12}$|^(.)\1{5,}$/.test(word);
}

/** Default accounts whose password is the same word after an installation. */
const wellKnown = /^(?:root|guest|admin|postgres|user)$/;

/** Its words in lower case, without digits and signs. */
const partsOf = (value: string): string[] =>
  value
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== '');

/** `supersecret`, `mygmailpassword`, `wrongjwt` */
const glued =
  /^(?:super|such|much|top|very|some|test|auth|your|the|existing|wrong|bad|dodgy|invalid|my[a-z]{0,16})(?:secret|password|passwd|token|jwt|key|pass)$/;
/** `averylongphrasebiggerthanthirtytwochars`: it says how long it has to be. */
const saysItsLength = /^a?(?:very|long|some)[a-z]{8,40}(?:chars|characters|bytes|letters|long)$/;
/** Words for the owner, beside a word for a secret: `LdapAdminPassword`, `johns_password`. */
const owner =
  /^(?:admin|root|user|ldap|db|database|mail|email|login|account|service|(?:user|admin|client|server|account|john|jane|joe|tom|bob|alice|carol|dave)s)$/;

function isOfExampleWords(value: string): boolean {
  const parts = partsOf(value);
  if (parts.length === 0) return false;
  if (parts.every((part) => isExampleWord(part) || glued.test(part))) return true;
  return (
    parts.length > 1 &&
    !/\d/.test(value) &&
    /(?:password|secret|token|key)$/.test(parts.at(-1)!) &&
    parts.every((part) => isExampleWord(part) || owner.test(part))
  );
}

/** `somepassword`, `key_1234`: in an address of a program, where any other word is a password. */
export const isExampleInAddress = (value: string): boolean =>
  glued.test(value) || /^(?:key|token|secret|pass(?:word)?)[-_]\d{1,4}$/.test(value);

/**
 * `secret123`, `hard!to-guess_secret`, `MySecretPassword`, `root`: in a program, an example. Not `password1`, `Secret2024!` and
 * `P@ssw0rd`, which people use.
 */
export function isExampleWords(value: string): boolean {
  if (value.length > 60) return false;
  if (wellKnown.test(value) || /^1234?5?$/.test(value)) return true;
  if (describing.test(value) || saysItsLength.test(value)) return true;
  if (/\d/.test(value) && /[A-Z]|pass|pwd|pw/.test(value)) return false;
  const digits = value.replace(/123456(?:7(?:8(?:90?)?)?)?/, '').replace(/\D/g, '').length;
  return digits <= 4 && isOfExampleWords(value);
}

/** `admin-secret`: in a header that is sent, a value in use. */
export const isOfOwner = (value: string): boolean =>
  /^(?:admin|root|ldap|db|database|service|account|super)[-_]?(?:secret|password|key)$/i.test(value);

/** `password-for-30001` */
const describing = /^(?:password|secret|token)[-_ ](?:for|of)[-_ ][\w-]{2,40}$/;

/** Of RFC 6749, 6750 and 7519, and of the documentation of one-time codes, which many packages copy. */
const printedInStandards = new Set([
  '2YotnFZFEjr1zCsicMWpAA',
  'tGzv3JOkF0XG5Qx2TlKWIA',
  'SplxlOBeZQQYbYS6WxSbIA',
  'gX1fBat3bV',
  '7Fjfp0ZBr1KtDRbnfVdmIw',
  'mF_9.B5f-4.1JqM',
  'czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3',
  'czZCaGRSa3F0MzpnWDFmQmF0M2JW',
  'JBSWY3DPEHPK3PXP',
]);

/** Rules whose values a machine generates: no word in them means anything. */
const isIssued = (rule: string): boolean => rule === 'token' || rule === 'api-key';
const ownWord = /token|key|secret|auth|cred/i;

/** An example wherever it is: a sequence, a value of a standard, or a token that says it is one (`access-token-1`). */
export function isExampleOf(value: string, rule: string): boolean {
  if (printedInStandards.has(value)) return true;
  if (rule === 'password' || rule === 'pin') return false;
  if (value.length >= 12 && /^[\w-]+$/.test(value) && isSequence(value)) return true;
  // `client_secret=clientsecret`
  if (rule === 'secret') return /^(?:client|app|api|consumer|oauth|shared|msi)[-_]?secret$/i.test(value);
  return (
    isIssued(rule) && /^[a-z_-]{3,40}\d{0,3}$/i.test(value) && ownWord.test(value) && isOfExampleWords(value)
  );
}

const issued =
  /(?:^|(?:api|access|refresh|id|bearer|oauth2?|client|consumer|user|session|bot|csrf|xsrf|device|push)[-_]?)tokens?$|(?:api|access|app|client|consumer)[-_]?keys?$/i;
/** Words in the names of keys and tokens that people make up. */
const madeUp = /admin|master|root|crypt|sign/i;

/**
 * `tobi`, `test-saved`: in a literal of a program, nothing that an issuer draws (`apiKey`, `accessToken`). A password may be any
 * word, and so may what people make up themselves (`masterKey`, `adminToken`).
 */
export const isIssuedAsWord = (value: string, name: string, rule: string): boolean =>
  isIssued(rule) &&
  /^[a-z]{2,12}(?:[-_][a-z]{2,12})?$/.test(value) &&
  issued.test(name) &&
  !madeUp.test(name);
