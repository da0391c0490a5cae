/**
 * What stands in a secret's place in programs, in what their pages say and in their documentation, and is told from a secret by its
 * build alone: expressions, markup, constants that are called as what they mean, words that a page shows in any language.
 */

const expressions = [
  // `t=>open(t`, `6===this.version`, `/i.test(word`, `/SIGNATURE/.test(t[1`
  /^(?:\([\w$, ]*\)|[\w$]+)=>/,
  /[\w$)\]](?:===|!==)[\w$("'!-]/,
  /^\/(?:[^\s/]{1,80}\/)?[dgimsuvy]{0,4}\.(?:test|exec|source)\b/,
  // What is behind the value's end: `0}recordPacket(e`
  /[)}\]][;,]?(?:[A-Za-z_$][\w$.]*\(|[A-Za-z_$][\w$]*[=:])/,
  /\}(?:return|else|catch|case|function|var|let|const)$/,
  // `flags.sign|flags.certify`, `options.token||null`
  /^[A-Za-z_$][\w$]*\.[\w$.]+(?:\||&&|\?|\*\w)/,
  /^[A-Za-z_$][\w$]{0,2}=(?:null|new|void|await|this|\()/,
  // `e.getKey=e.readKey=void`, `t?keys.server:keys.client`, `a.token+`
  /^[A-Za-z_$][\w$]*(?:\.[\w$]+)+(?:=[A-Za-z_$(!]|\+$)/,
  /^[A-Za-z_$][\w$.]*\?[\w$.]+:[\w$.]+$/,
  // A template that the value's end cut.
  /\$\{[^{}]*$/,
];

/** Without quotes, no value but a piece of a program. */
export const isCodePiece = (value: string): boolean => expressions.some((one) => one.test(value));

const closedBefore = /^["'`]?\s*[+),;\]}]+(?:\s|$|["'`]|\$\{)|^["'`]?[+),;\]}].*(?:\);|\)\{|\}\)|\),|\)\.)/s;
/** `_process$env$TOKEN2`: a compiler's. */
const helper = /^_[a-z]\w*\$\w+(?:$| =)/i;
const statement =
  /^(?:mutation|query|subscription|fragment) \w|^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER) \w/;
/** A note of a change: `([#1295](https://…`. */
const noteLink = /^\(\[#?\w/;
const markup = /^<[A-Za-z][\w:.-]*(?:\s[^<>]*)?(?:[=>]|$)|^<\/?[A-Za-z][\w:.-]*>/;
const pattern = /^\(?\[\^?[^\]\s]{1,60}\](?:[+*](?:$|[?)])|\{\d{1,4},?\d{0,4}\})/;

/** In quotes: the string had ended before and this is the program's own text, or it is a tag or a pattern. */
export const isProgramPiece = (value: string): boolean =>
  closedBefore.test(value) ||
  markup.test(value) ||
  pattern.test(value) ||
  noteLink.test(value) ||
  helper.test(value) ||
  statement.test(value);

/** Stems of what a credential is called, in the languages of pages. */
const calledSo =
  /pass ?(?:word|phrase|wort|code)|contraseñ|contrasen|frase|mot de passe|senha|passe|парол|ключ|фраз|аутентиф|авториз|токен|autent|auth?entif|kennwort|schlüssel|wachtwoord|lösenord|hasł|parol|şifre|κωδικ|密码|密碼|密鑰|密钥|认证|認證|認証|パス|トークン|秘密|フレーズ|패스|비밀|토큰|인증|암호|סיסמ|كلمة|पासवर्ड|optional|required/iu;

/** Letters of any language, blanks and what joins words in a sentence. */
const spoken = /^[\p{L}\p{M}]+(?:[\s'’.,:()/-]+[\p{L}\p{M}]+)*[\s.:!?)…]*$/u;

const foreignLetter = /(?![A-Za-z])\p{L}/u;

/** `Passphrase des privaten Schlüssels (optional)`, `Usar autenticación`: what a page says of the field. */
export function saysWhatItIs(value: string, rule: string): boolean {
  const isForeign = /[^ -~]/.test(value);
  const isDrawn = rule !== 'password' && rule !== 'seed-phrase';
  if (/\d/.test(value)) return false;
  // What a machine has drawn is of ASCII and without a blank.
  if (isDrawn && isForeign && foreignLetter.test(value)) return true;
  if (!spoken.test(value)) return false;
  const isSeveral = /[\s-]/.test(value);
  if (isDrawn && /\s/.test(value)) return true;
  return (isSeveral || isForeign) && calledSo.test(value);
}

const kinds = /secret|token|credential|auth|keys?(?![a-z])|sess(?:ion)?s?(?![a-z])|cookie|passw/i;

/** Words, letters alone, that are joined: `m.secret.request`, `ID_TOKEN`, `analytics-clientId`. */
const joined = /^[A-Za-z]+(?:[-_.:/](?:[A-Za-z]+|sha\d{1,3}|base64|v\d))+$/;
/** `u.password`: a column's. */
const column = /^[a-z]\w{0,20}\.\w{0,20}(?:password|passwd|secret|token|key)$/i;
/** `comment.doc.tag`, `anon-session-id`: of an editor's marks, of a thing's number. */
const mark = /^[a-z]+(?:\.[a-z]+)+$|^[a-z]+(?:[-_][a-z]+)*[-_]ids?$/;
/** `base64EncodedKey` */
const camel = /^[a-z]{2,}\d{0,2}(?:[A-Z][a-z]+)+$/;
const constant = /^[A-Z]{2,}(?:_[A-Z]{2,})+$/;

/**
 * A constant that says what it is for. A password may be any word; of anything else that somebody gave out, words that hold its own
 * name are what it is called by.
 */
export function isCalledAsMeant(value: string, rule: string): boolean {
  if (constant.test(value))
    return (rule === 'password' ? /PASSWORD|PASSPHRASE/ : /SECRET|TOKEN|KEY|CRED|AUTH|CODE/).test(value);
  if (column.test(value)) return true;
  if (rule === 'password') return false;
  return mark.test(value) || ((joined.test(value) || camel.test(value)) && kinds.test(value));
}

/** `PassphraseInfo`, `secretsByName`: a type or a variable that is called by what it holds, and more. */
export const isCalledByContent = (value: string): boolean =>
  /^[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)+[;,]?$/.test(value) &&
  /pass(?:word|phrase|code)|secret|token|credential/i.test(value);

/** `com.example.storage`, `csi.storage.k8s.io/serviceAccount.tokens`, `#/components/schemas/Token`, `10.0.0.1`: addresses and names of parts. */
export const isPartName = (value: string): boolean =>
  /^(?:com|org|net|io|dev|app|ai|edu|gov)(?:\.[a-z][a-z\d-]{1,30}){1,6}(?:[./][A-Za-z][A-Za-z.-]{1,60})?$/.test(
    value,
  ) ||
  /^(?:[a-z][a-z\d-]{1,30}\.){1,5}(?:com|org|net|io|dev|app|ai)\/[A-Za-z][\w./-]{1,60}$/.test(value) ||
  /^@[a-z\d-]{1,40}\/[\w.-]{1,80}$/.test(value) ||
  /^(?:application|text|image|audio|video|multipart|font|model)\/[\w.+-]{1,80}$/.test(value) ||
  /^#\/[\w$~-]{1,60}(?:\/[\w$~.-]{1,120}){0,8}$/.test(value) ||
  /^(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d{1,5})?$/.test(value) ||
  /^(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?:\/\d{1,3})?$/i.test(value);

/** Words with blanks between, and no sign of a program: what is said as a phrase. */
export const isSpokenPhrase = (line: string): boolean =>
  /^[\p{L}\p{M}\d'’_-]+[!?.,]?(?: [\p{L}\p{M}\d'’_-]+[!?.,]?)+[;"]?\s*$/u.test(line);

const wordInSentence = /^["'«„“(]?[\p{L}\p{M}'’-]+[.,:;!?…)"'»“”]{0,2}$/u;
/** A capital, then a small word; or scripts that have no capitals. */
const opensSentence = /^["'«„“]?(?:\p{Lu}[\p{Ll}\p{M}'’-]*\s+["'«„“(]?\p{Ll}|\p{Lo}[\p{Lo}\p{M}]*\s)/u;

/** Four words and more of any language, most of them letters alone, as a sentence begins: what a page says, and no phrase of words that somebody drew. */
export function isSentence(value: string): boolean {
  if (!/\s/.test(value) || !opensSentence.test(value)) return false;
  const parts = value.slice(0, 400).split(/\s+/);
  return (
    parts.length >= 4 && parts.filter((part) => wordInSentence.test(part)).length * 4 >= parts.length * 3
  );
}

/** Half of its characters follow the one before, as in `abc123def456`: written down, not drawn. */
export function isSequence(value: string): boolean {
  let steps = 0;
  for (let i = 1; i < value.length; i++) if (value.charCodeAt(i) - value.charCodeAt(i - 1) === 1) steps += 1;
  return value.length >= 8 && steps * 2 >= value.length - 1;
}

/** Each character once: what is drawn from, not what was drawn. */
export const isAlphabet = (value: string): boolean =>
  value.length >= 36 && new Set(value).size === value.length;
