/** Values that hide nothing: placeholders, references to a variable or a store, masks, paths. */
import { isOwnPlaceholder } from '../placeholder.ts';
import { hasLongRandomPart, looksRandom } from './randomness.ts';

let standInWords: Set<string> | undefined;

function isStandInWord(word: string): boolean {
  standInWords ??= new Set(
    `null none nil error warn undefined string! int! id! float! boolean! true false yes no on off todo tbd tba na n/a changeme change_me change-me replace_me
    replaceme redacted hidden masked removed filtered withheld omitted secret password passwd pwd token string str number int
    integer boolean bool any unknown void object bytes buffer text required optional empty missing unset default example
    sample dummy placeholder disabled enabled invalid valid expired denied present absent auto basic bearer digest
    negotiate api_key apikey api-key key value literal confidential sensitive private public unauthorized forbidden
    optional[str] varchar text uuid char nan infinity type function class interface const let var return await new
    this self async import export from require import( super typeof delete json yaml
    uint8array uint16array uint32array int8array int32array float32array float64array biguint64array bigint64array
    arraybuffer int32 int64 uint32 uint64 float32 float64 bytes32 base64 base64url base32 hex latin1 ascii utf8 utf-8 sha1 sha256 sha512 hs256 rs256
    foobared bcrypt scrypt pbkdf2 argon2 argon2i argon2id
    es256 mysecret mytoken mykey myapikey yoursecret yourtoken yourkey yourapikey yourpassword string_value blob_value number_value passwort kennwort wachtwoord contraseña senha lösenord adgangskode passord
    hasło heslo jelszó parola salasana şifre пароль 密码 密碼 パスワード 비밀번호`.split(/\s+/),
  );
  return standInWords.has(word);
}

const references =
  /^(?:process\.env|import\.meta|os\.(?:environ|getenv)|env[.:[]|ENV\[|secrets?[.:[]|secretRef|vars?\.|config\.|settings\.|self\.|this\.|local\.|data\.|module\.|npm:|workspace:|vault:|op:\/\/|arn:|file:|ssm:|aws:secretsmanager|keyvault|gcp-?secret|awssm|(?:cat|pass|op|vault|aws|gcloud|kubectl|security|head|openssl|echo|printf|uuidgen) [-\w/$~.]|projects\/[^/]+\/secrets|!(?:Ref|Sub|GetAtt|reference)\b|@Microsoft\.KeyVault)/i;
const fillIns =
  /^(?:<{1,2}[^<>]*>{1,2}|\\\$\{[^{}]*\}|\[[^[\]]*\]|\{\{?[^{}]*\}?\}|\$\{[^{}]*\}|\$\([^()]*\)|\$[A-Za-z_]\w*|\$\d{1,2}|%[A-Za-z_]\w*%|%\(?\w*\)?[sdv]|:[a-z_]\w*|\?+|@\w+|#\{[^{}]*\}|__\w+__|\(.*\))$/;
const fillInWords =
  /(?:^|[-_ ])(?:your|insert|enter|replace|placeholder|example|dummy|fake|sample|changeme|redacted|goes|my)(?:[-_ ]|$)|(?:^|[-_ ])here$/i;

const fillIn =
  /<[^<>\n]{1,80}>|\$\{[^{}\n]{0,80}\}|\{\{[^{}\n]{0,80}\}\}|\$\{\{[^{}\n]{0,80}\}\}|\$\([^()\n]{0,80}\)|\[[^[\]\n]{0,80}\]|\{[\w.]{0,80}\}/y;

/** `<your-key>`, `${TOKEN}`, `{{ token }}` at `start`, covering a bare value that ended at `end` because of the brackets. */
export function isFillIn(text: string, start: number, end: number): boolean {
  fillIn.lastIndex = start;
  return fillIn.test(text) && fillIn.lastIndex >= end;
}

/** Most values are one word of letters and digits: of all tests below, only these parts apply to it. */
const onlyAlnum = /^[A-Za-z\d]+$/;
/** Also `0000000000000000000000000000000000000001`. */
const oneLetter = /^(.)\1+$|^0{16,}\d$/;
const alnumStandIn =
  /[xX]{6}|^[xX0]+$|^(?:(?:foo|bar|baz|qux)\d?|your|insert|enter|replace|placeholder|example|dummy|fake|sample|changeme|redacted|goes|my|here|filtered|hidden|masked|secret|omitted)$|^(?:secretref|keyvault|gcpsecret|awssm)|^your[a-z]{3,30}here$/i;

/**
 * What must not be, or do: `should-not-be-called`. Behind the other verbs only what tests say: a person may have chosen
 * `do-not-enter-here` or `will-not-bend-the-knee`.
 */
const forbidden =
  /^(?:(?:should|does)[-_]not(?:[-_][a-z]{2,16}){1,4}|(?:must|do|will)[-_]not[-_](?:be(?:[-_][a-z]{3,16}){1,3}|(?:use|leak|appear|exist|match|work|matter|log|share|commit|print|send|save|reach)(?:[-_](?:this|it|here|in|to|the|me|anything|logs?|output|store|server|production))*))$/i;

/** A program that keeps passwords: `our password manager is 1Password`. Below a name it is a password like others. */
export const isKeeper = (value: string): boolean =>
  /^(?:1password|keepass(?:xc?|2|dx)?|lastpass|bitwarden|dashlane|nordpass|vaultwarden)$/i.test(value);

/** Hides nothing: a placeholder, a reference to a variable or a store, a mask. */
export function isStandIn(value: string): boolean {
  const text = value.trim();
  if (text.length < 2) return true;
  if (isStandInWord(text.toLowerCase().replace(/\?$/, ''))) return true;
  if (onlyAlnum.test(text)) return alnumStandIn.test(text) || oneLetter.test(text);
  if (fillIns.test(text) || references.test(text) || isPath(text)) return true;
  if (/^(?:[xX*•.·\-_#?0\s]|%20)+$/.test(text) || /^(.)\1+$/s.test(text)) return true;
  if (/\*{4,}|^\*{3,}[A-Za-z]+\*{3,}$|[xX]{6,}|•{3,}/.test(text) || maskedTail.test(text)) return true;
  if (/^(?:foo|bar|baz|qux)\d?$/i.test(text)) return true;
  // `sk-...`, `ghp_…`: a public start, and the rest omitted.
  if (/^(?:(?:[A-Za-z]{1,8}[-_]){0,3}[A-Za-z]{0,6}|[\da-f]{2,8}|eyJ[\w-]{1,14})(?:\.{3,}|…)$/.test(text))
    return true;
  if (isOwnPlaceholder(text) || /^\[?(?:redacted|filtered|hidden|masked|secret|omitted)\b/i.test(text))
    return true;
  if (/^header\.payload\.signature$/i.test(text)) return true;
  if (formOfValue.test(text) || emptyBlock.test(text)) return true;
  // `ibPassword: 2-byte`, `smtp_password: 'smtp_password_value'`
  if (/^\d{1,3}[- ](?:bytes?|bits?|chars?|characters?|digits?)$/i.test(text)) return true;
  if (/^[a-z]{1,12}_(?:password|secret|token|key)_value$/i.test(text)) return true;
  if (/^<?(?:user(?:name)?|login|key|id):(?:pass(?:word|wd)?|pwd|secret)>?$/i.test(text)) return true;
  if (fillInWords.test(text) && !hasLongRandomPart(text)) return true;
  return forbidden.test(text);
}

/** `password (base64-encoded)` */
const formOfValue =
  /^(?:base64|base64url|hex|url|md5|sha-?\d{1,3}|bcrypt|one-way|salted)[- ](?:encoded|hashed|encrypted|hash)$/i;
/** `-----BEGIN PRIVATE KEY-----<KEY>-----END PRIVATE KEY-----`, `-----BEGIN PRIVATE KEY-----\n...` */
const emptyBlock =
  /^-----BEGIN [A-Z ]{3,40}-----(?:\s|\\{1,8}[nr])*(?:<[^<>]{0,60}>|[\w+/]{0,8}(?:\.{3,}|…)[\w+/=]{0,8}|[xX*]{3,})?(?:\s|\\{1,8}[nr])*(?:-----END [A-Z ]{3,40}-----(?:\s|\\{1,8}[nr])*)?$/;

/** `dapi***`, `sk-***`: what every key of an issuer begins with. Other letters before a mask are the secret's own. */
const maskedTail = /^(?:(?:[A-Za-z_-]{0,11}[-_])?|dapi|A[KS]IA|AIza|eyJ)\*{3,}$/;

/** `hunter****`: most of a password, and a mask for the rest. */
export function isPartlyMasked(value: string): boolean {
  const open = /^([^\s*<>{}[\]()]{4,40})(?:\*{2,}|•{2,})$/.exec(value)?.[1];
  return open !== undefined && /[a-z]/i.test(open) && !maskedTail.test(value) && !isStandIn(open);
}

const pathStart =
  /^(?:(?:\/|\/[a-z]\/)?(?:home|root|etc|run|var|usr|opt|srv|app|tmp|mnt|proc|dev|lib|bin|Users|private|secrets|data|workspace|code)\/|\.{1,2}[\\/]|~[\\/]|[A-Za-z]:\\|file:\/\/)/;

/** `test/support/certIssuerKey.p12` */
const keyFile =
  /^(?:[\w.-]{1,40}\/){1,12}[\w.-]{1,60}\.(?:p12|pfx|p8|pem|key|crt|cer|der|jks|json|ya?ml|txt)$/;

/** `--private-key @AuthKey.p8`: to be read from a file. Passwords begin with such a sign too. */
export const isFileToRead = (value: string): boolean => value.startsWith('@') && fileToRead.test(value);
const fileToRead =
  /^@(?:[\w.-]{1,40}\/){0,12}[\w.-]{1,60}\.(?:p12|pfx|p8|pem|key|crt|cer|der|jks|json|ya?ml|txt)$/;

/** A path: below a common system folder, or of readable parts only. Base64 may start with a slash too. */
export function isPath(value: string): boolean {
  if (!/^[\w@%+=,.:\\/~ -]+$/.test(value) || !/[\\/]/.test(value)) return false;
  if (pathStart.test(value)) return true;
  if (keyFile.test(value)) return true;
  if (!/^\/[\w@.-]/.test(value)) return false;
  return !value.split('/').some((part) => part.length >= 8 && looksRandom(part, 8));
}
