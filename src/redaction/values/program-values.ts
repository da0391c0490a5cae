/**
 * Recognizes what is in a secret's place in programs, user interfaces and documentation but is not a secret, by its structure
 * alone: expressions, markup, constants named after their meaning, words of an interface in any language.
 */

const expressions = [
  // `t=>open(t`, `6===this.version`, `/i.test(word`, `/SIGNATURE/.test(t[1`
  /^(?:\([\w$, ]*\)|[\w$]+)=>/,
  /[\w$)\]](?:===|!==)[\w$("'!-]/,
  /^\/(?:[^\s/]{1,80}\/)?[dgimsuvy]{0,4}\.(?:test|exec|source)\b/,
  // Includes code after the value's end: `0}recordPacket(e`
  /[)}\]][;,]?(?:[A-Za-z_$][\w$.]*\(|[A-Za-z_$][\w$]*[=:])/,
  /\}(?:return|else|catch|case|function|var|let|const)$/,
  // `flags.sign|flags.certify`, `options.token||null`
  /^[A-Za-z_$][\w$]*\.[\w$.]+(?:\||&&|\?|\*\w)/,
  /^[A-Za-z_$][\w$]{0,2}=(?:null|new|void|await|this|\()/,
  // `e.getKey=e.readKey=void`, `t?keys.server:keys.client`, `a.token+`
  /^[A-Za-z_$][\w$]*(?:\.[\w$]+)+(?:=[A-Za-z_$(!]|\+$)/,
  /^[A-Za-z_$][\w$.]*\?[\w$.]+:[\w$.]+$/,
  // `e?.accessToken??null`, `e.accessToken:delete`
  /^[A-Za-z_$][\w$]{0,2}(?:\?\.|\.)[A-Za-z_$][\w$]*(?:\?\?|:(?:delete|void|null|this)\b)/,
  // `/access_token=\w+/g`: the pattern of a value, and what may follow it; not a password that begins like one.
  /^\\[wS][+*]\??(?:$|\/[dgimsuvy]{0,4}(?:$|[^\w+/=-])|[)|&\\[])/,
  // `null==r?void`, `null}async`
  /^(?:null|undefined)(?:[!=]=|[})\]])/,
  // A template that was cut at the value's end.
  /\$\{[^{}]*$/,
];

/** `!0:this.accessToken`, `!1,e.exports=t`, `!!this._auth.oauth2`: what follows the sign is code. */
const negation =
  /^!+(?:this\.|[01][:;,?](?:$|[!"'([{]|(?:this|void|null|new|await|return|function|delete|typeof|throw|if|for|var|let|const)\b|[A-Za-z_$][\w$]{0,2}[.(=[?:]|[A-Za-z_$]+\())/;

/** `n:(0` */
const branch = /^[A-Za-z_$][\w$]{0,2}:\(/;

/** `t>0?t<this.count` */
const chosen =
  /^[A-Za-z_$]{1,2}[<>]=?(?:\d|[A-Za-z_$]\w*\.[\w$.]+)\?[A-Za-z_$][\w$]*(?:[<>]=?|\.)[A-Za-z_$]{2}/;

/** `/d{1`, `/ok[^#{`: a regular expression up to its first comma or bracket. */
const repeated = /^\/(?:[^\s/]{0,40}[\w\])]\{\d{1,4}|[\w \\]{1,20}\[\^[^\]\s]{1,20})$/;

/** `SerializationResult|Error`: a type. One of the parts says so: words of a password may be joined in the same way. */
const union =
  /^(?=.*(?:\b(?:null|undefined)\b|(?:Error|Result|Node|Type|Token|Key|Secret|Options|Promise|Buffer|Array|Object|String)\b))[A-Z][A-Za-z]+(?:<[\w, ]{1,40}>)?(?:\|(?:null|undefined|[A-Z][A-Za-z]+)){1,8}$/;

/** For unquoted values: a piece of program code. In a setting, an exclamation mark and a parenthesis are characters like others. */
export const isCodePiece = (value: string, isSetting = false): boolean =>
  (!isSetting &&
    (union.test(value) ||
      negation.test(value) ||
      branch.test(value) ||
      chosen.test(value) ||
      repeated.test(value))) ||
  expressions.some((one) => one.test(value));

const closedBefore =
  /^\)?\.[a-z]\w{1,20}\(|^["'`]?\s*[+),;\]}]+(?:\s|$|["'`]|\$\{)|^["'`]?[+),;\]}].*(?:\);|\)\{|\}\)|\),|\)\.)/s;
/** `_process$env$TOKEN2`: created by a compiler. */
const helper = /^_[a-z]\w*\$\w+(?:$| =)/i;
const statement =
  /^(?:mutation|query|subscription|fragment) \w|^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER) \w/;
/** An entry of a changelog: `([#1295](https://…`. */
const noteLink = /^\(\[#?\w/;
const markup = /^<[A-Za-z][\w:.-]*(?:\s[^<>]*)?(?:[=>]|$)|^<\/?[A-Za-z][\w:.-]*>/;
const pattern = /^\(?\[\^?[^\]\s]{1,60}\](?:[+*](?:$|[?)])|\{\d{1,4},?\d{0,4}\}|\$\{\w)/;

/** What a generator of parsers writes into `tokenData`. */
const parserTable = /^[!-~]{2,5}[~_]R[!^][!-~]{20}/;

/** For quoted values: the string had ended before, and this is program code, a tag or a pattern. */
export const isProgramPiece = (value: string, isToken: boolean): boolean =>
  (isToken && parserTable.test(value)) ||
  closedBefore.test(value) ||
  markup.test(value) ||
  pattern.test(value) ||
  noteLink.test(value) ||
  helper.test(value) ||
  statement.test(value);

/**
 * `"pass": "L'attributo è supportato"`: three words or more of a sentence, with an elision or a letter that is not ASCII. Not
 * ignoring case: `\u017f` in the range would be an `s`.
 */
export const isForeignSentence = (text: string): boolean =>
  (foreignSentence.test(text) && /[A-Za-z]['’]\p{L}|[\u00c0-\u024f]/u.test(text)) ||
  nativeSentence.test(text);
/** `"pass": "ARIA атрибут допустим"`: of the same form, in another script. Not `мой синий кит`, which may be a password. */
const nativeSentence =
  /^(?=.*[\u0370-\ud7ff]{3})(?:\p{Lu}[\p{L}\p{M}'’«»"()<>-]*(?:[,:;]?\s+[\p{L}\p{M}'’«»"()<>-]+){2,}|[\p{L}\p{M}'’«»"()<>-]+(?:[,:;]?\s+[\p{L}\p{M}'’«»"()<>-]+){5,})[.!?。]?$/u;
/** With a capital in front, or longer than what people choose. */
const foreignSentence =
  /^(?:\p{Lu}[\p{L}'’]*(?:[,:]?\s+[\p{L}'’]+){2,}|[\p{L}'’]+(?:[,:]?\s+[\p{L}'’]+){5,})[.!?]?$/u;

/**
 * `"pass": "ARIA属性値が有効です"`: a message in another language, by its length, its signs or its polite ending. A Japanese passphrase is
 * written in one script or ends with a noun. Not for names that mean a password for certain.
 */
export function isTranslated(value: string): boolean {
  if (!/[^\0-~]/.test(value)) return false;
  if (/[\p{sc=Hira}\p{sc=Kana}\p{sc=Han}]/u.test(value)) return isJapaneseSentence(value);
  const words = value.trim().split(/\s+/);
  if (words.length < 3 || /\d$/.test(value)) return false;
  return words.length >= 7 || /\p{L}[.。]$|[<>]|\w\(|\p{L}\)/u.test(value);
}

const politeEnd = /(?:です|ます|ません|ました|でした|ている|ください|した)[。.]?$|[^\s]。$/u;

function isJapaneseSentence(value: string): boolean {
  const scripts = [/\p{sc=Hira}/u, /\p{sc=Kana}/u, /\p{sc=Han}/u, /[A-Za-z]/].filter((one) =>
    one.test(value),
  );
  const letters = value.match(/[\p{sc=Hira}\p{sc=Kana}\p{sc=Han}ー]/gu)?.length ?? 0;
  return letters >= 7 && ((scripts.length >= 2 && politeEnd.test(value)) || /[、。].*。$/u.test(value));
}

/** `` `cannotHaveAPort(urlRecord)` ``: the code of a text. */
const call = /^[a-z]+(?:[A-Z][a-z]*)+\([\w$., ]{0,80}\)$/;
/** A template with a quote in it, where the value ends. */
const cutTemplate = /\$\{[\w$.]+(?:\([\w$.]*)?\($/;

/** For values between backquotes in a program: code. Elsewhere `correctHorse(42)` is a password. */
export const isCodeInTemplate = (value: string): boolean => call.test(value) || cutTemplate.test(value);

/** Stems of words for credentials in the languages of user interfaces. */
const calledSo =
  /pass ?(?:word|phrase|wort|code)|contraseñ|contrasen|frase|mot de passe|senha|passe|парол|ключ|фраз|аутентиф|авториз|токен|autent|auth?entif|kennwort|schlüssel|wachtwoord|lösenord|hasł|parol|şifre|κωδικ|密码|密碼|密鑰|密钥|认证|認證|認証|パス|トークン|秘密|フレーズ|패스|비밀|토큰|인증|암호|סיסמ|كلمة|पासवर्ड|optional|required/iu;

/** Letters of any language, blanks, and punctuation of sentences. */
const spoken = /^[\p{L}\p{M}]+(?:[\s'’.,:()/-]+[\p{L}\p{M}]+)*[\s.:!?)…]*$/u;

const foreignLetter = /(?![A-Za-z])\p{L}/u;

/** `Passphrase des privaten Schlüssels (optional)`, `Usar autenticación`: the label of a field. */
export function saysWhatItIs(value: string, rule: string): boolean {
  const isForeign = /[^ -~]/.test(value);
  const isDrawn = rule !== 'password' && rule !== 'seed-phrase';
  if (/\d/.test(value)) return false;
  // Generated values are ASCII and contain no blank.
  if (isDrawn && isForeign && foreignLetter.test(value)) return true;
  if (!spoken.test(value)) return false;
  const isSeveral = /[\s-]/.test(value);
  if (isDrawn && /\s/.test(value)) return true;
  return (isSeveral || isForeign) && calledSo.test(value);
}

const kinds = /secret|token|credential|auth|keys?(?![a-z])|sess(?:ion)?s?(?![a-z])|cookie|passw/i;

/** Joined words of letters only: `m.secret.request`, `ID_TOKEN`, `analytics-clientId`. */
const joined = /^[A-Za-z]+(?:[-_.:/](?:[A-Za-z]+|sha\d{1,3}|base64|v\d))+$/;
/** `u.password`: a column. */
const column = /^[a-z]\w{0,20}\.\w{0,20}(?:password|passwd|secret|token|key)$/i;
/** `comment.doc.tag`, `anon-session-id`: an editor's mark, or the name of an id. */
const mark = /^[a-z]+(?:\.[a-z]+)+$|^[a-z]+(?:[-_][a-z]+)*[-_]ids?$/;
/** `base64EncodedKey` */
const camel = /^[a-z]{2,}\d{0,2}(?:[A-Z][a-z]+)+$/;
/** `DataGridInternalToken` */
const pascal = /^(?:[A-Z][a-z]+){3,8}(?:Token|Key)s?$/;
const constant = /^[A-Z][A-Z\d]+(?:_[A-Z\d]{2,})+$/;

/**
 * A constant named after its purpose. A password may be any word, but other issued credentials don't contain words for
 * themselves.
 */
export function isCalledAsMeant(value: string, rule: string): boolean {
  if (constant.test(value)) {
    if (rule === 'password') return /PASSWORD|PASSPHRASE/.test(value);
    // People choose the values of a `secret` too.
    if (rule !== 'secret' && !/\d/.test(value)) return true;
    return /SECRET|TOKEN|KEY|CRED|AUTH|CODE|_ID$|(?:RANDOM|STRONG|SECURE|SOME|ANY|YOUR|DEFAULT)_VALUE$/.test(
      value,
    );
  }
  if (column.test(value)) return true;
  if (rule === 'password') return false;
  if (rule !== 'secret' && pascal.test(value)) return true;
  return mark.test(value) || ((joined.test(value) || camel.test(value)) && kinds.test(value));
}

/** `PassphraseInfo`, `secretsByName`: a type or a variable named after its content. */
export const isCalledByContent = (value: string): boolean =>
  /^[A-Za-z]?[a-z]+(?:[A-Z]\d{1,2}|[A-Z][a-z]+)+[;,]?$/.test(value) &&
  /pass(?:word|phrase|code)|secret|token|credential/i.test(value);

/**
 * `com.example.storage`, `csi.storage.k8s.io/serviceAccount.tokens`, `#/components/schemas/Token`, `10.0.0.1`: addresses and
 * names of components.
 */
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

/** Words separated by blanks, without a sign of a program: a phrase. */
export const isSpokenPhrase = (line: string): boolean =>
  /^[\p{L}\p{M}\d'’_-]+[!?.,]?(?: [\p{L}\p{M}\d'’_-]+[!?.,]?)+[;"]?\s*$/u.test(line);

const wordInSentence = /^["'«„“(]?[\p{L}\p{M}'’-]+[.,:;!?…)"'»“”]{0,2}$/u;
/** A capitalized word, then a lower-case one, or scripts without capitals. */
const opensSentence = /^["'«„“]?(?:\p{Lu}[\p{Ll}\p{M}'’-]*\s+["'«„“(]?\p{Ll}|\p{Lo}[\p{Lo}\p{M}]*\s)/u;

/**
 * Four or more words of any language, mostly letters only, that start like a sentence: interface text, not a phrase of
 * randomly chosen words.
 */
export function isSentence(value: string): boolean {
  if (!/\s/.test(value) || !opensSentence.test(value)) return false;
  const parts = value.slice(0, 400).split(/\s+/);
  return (
    parts.length >= 4 && parts.filter((part) => wordInSentence.test(part)).length * 4 >= parts.length * 3
  );
}

/** Half of its characters follow their predecessor, as in `abc123def456`: typed, not generated. */
export function isSequence(value: string): boolean {
  if (isByteSequence(value)) return true;
  let steps = 0;
  for (let i = 1; i < value.length; i++) if (value.charCodeAt(i) - value.charCodeAt(i - 1) === 1) steps += 1;
  return value.length >= 8 && steps * 2 >= value.length - 1;
}

/** `000102030405…`, `00112233…`: bytes, each as much more than the one before. */
function isByteSequence(value: string): boolean {
  if (value.length < 12 || value.length % 2 === 1 || !/^[\da-f]+$/i.test(value)) return false;
  const bytes = Buffer.from(value, 'hex');
  const step = bytes[1]! - bytes[0]!;
  return step !== 0 && bytes.every((byte, i) => i === 0 || byte - bytes[i - 1]! === step);
}

/** `__n8n_EMPTY_VALUE_…`: a mark that no issuer and no person would choose. A random token may begin with `__` too. */
export const isMark = (value: string): boolean =>
  /^__[A-Za-z][A-Za-z\d]*_[A-Za-z]{2,}(?:_|$)[\w-]*$/.test(value);

/** No character occurs twice: an alphabet to draw from, not a generated value. */
export const isAlphabet = (value: string): boolean =>
  value.length >= 36 && new Set(value).size === value.length;
