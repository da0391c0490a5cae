/**
 * Decides whether a value under a name is a secret. Stand-ins (`<your-key>`, `${TOKEN}`, `****`), code (`req.body.password`),
 * prose and ids are not. All checks are linear in a value of bounded length.
 */
import type { SettingKind } from '../grammars/setting-line.ts';
import type { NameVerdict } from '../names/key-names.ts';
import { isExampleOf } from './example-values.ts';
import { isInvented, isNamedSecret, isPassphrase, isTypedWord } from './plain-words.ts';
import {
  isAlphabet,
  isCalledAsMeant,
  isCalledByContent,
  isCodePiece,
  isForeignSentence,
  isMark,
  isPartName,
  isProgramPiece,
  isSentence,
  isSequence,
  isTranslated,
  saysWhatItIs,
} from './program-values.ts';
import { digest, isPublicId, isPublicKey } from './public-ids.ts';
import { hasLongRandomPart, hasRandomPart, isDrawnLetters, isReadable, looksRandom } from './randomness.ts';
import { isFileToRead, isPartlyMasked, isPath, isStandIn } from './stand-ins.ts';
import { isElementState, isStyleDatum } from './style-values.ts';

/** The position of a value in the text. */
export interface ValueForm {
  quoted: boolean;
  /** `NAME=value` without blanks around the sign. */
  tight: boolean;
  /** The name is the first thing in its line. */
  startsLine: boolean;
  /** The value is the last thing in its line or in the text. */
  endsLine: boolean;
  /** The unit after the value, or 0 at the end. */
  next: number;
  /** The value is in a configuration, not in a program. */
  setting?: SettingKind | undefined;
  /** No sign of a program is nearby. */
  outside?: boolean;
}

let proseWords: Set<string> | undefined;

function isProseWord(word: string): boolean {
  proseWords ??= new Set(
    `a an the is are was were be must should has have had not no your you my our for of to in on with at by or and from
    please enter required invalid reset forgot field expired incorrect wrong missing cannot can could failed could
    when if it this that will use using used set provide provided expected unexpected given`.split(/\s+/),
  );
  return proseWords.has(word);
}

const algorithm =
  /^(?:(?:ecdsa|rsa|ssh|hmac)-)?(?:base|utf|sha|md|aes|rsa|ecdsa|ed|x|curve|secp|hmac|hs|rs|es|ps|argon|blake|iso|cp)-?\d[\w.-]{0,24}$|^(?:rsa(?:ssa|es)|pbes|pbkdf|pkcs)[\w.-]{0,24}$|^v\d[\w.-]{0,8}$/i;

/** Digits among letters, after what looks like an algorithm's number. */
const keyTail = /^[a-z]+-?\d+(?=[A-Za-z\d]{10,24}$)[A-Za-z]+\d/i;

/** `x25519`, `sha256WithRSAEncryption`; a key may start like this too. */
const isAlgorithm = (value: string): boolean => algorithm.test(value) && !keyTail.test(value);

/**
 * Random, or a password as people choose them: letters with at least two digits, no blank, not an algorithm or id. With
 * `strength` 3, a digest is a secret too.
 */
export function looksChosen(value: string, strength = 0): boolean {
  if (strength === 3 && digest.test(value)) return true;
  if (isStandIn(value) || isPublicId(value) || isPlainDatum(value) || isAlgorithm(value)) return false;
  if (looksRandom(value, 8)) return true;
  if (!/^[^\s/]{8,200}$/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return /\d.*\d/.test(value) || (value.length < 80 && isDrawnLetters(value.replace(/[^A-Za-z]+/g, '')));
}

/** Plain data: a number, a date, a version, a path, an address, a host name or mail address. */
export function isPlainDatum(value: string): boolean {
  return (
    /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(value) ||
    /^0x[0-9a-f]{1,8}$/i.test(value) ||
    isStyleDatum(value) ||
    /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[-+]\d\d:?\d\d)?)?$/.test(value) ||
    /^(?:[v^~]|[<>]=?)?\d+\.(?:\d+\.\d+(?:[-+][\w.+-]*)?|(?:\d+\.)?x)$/.test(value) ||
    isPath(value) ||
    /^[a-z][a-z0-9+.-]*:\/\/[^@\s]*(?:\/@[a-z][^@\s]*)?$/i.test(value) ||
    /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \/(?:[\w{}./:-]|\{[?&#+][\w,*]{1,60}\}){0,300}$/.test(
      value,
    ) ||
    /^urn:[a-z][a-z0-9-]{1,30}:/.test(value) ||
    /^\d(?:\.\d{1,7}){4,20}$/.test(value) ||
    isPartName(value) ||
    /^\/[\w./-]{1,200}\?[\w=&.%+-]{0,300}$/.test(value) ||
    /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value)
  );
}

/** `req.body.password`, `getToken(`, `tokens[0`, `camelCase`: an expression, not a literal. */
function isExpression(value: string, form: ValueForm): boolean {
  if (namespaced.test(value)) return true;
  if (form.next === 40 || form.next === 91 || /^(?:module\.)?exports\.[A-Za-z_$]/.test(value)) return true;
  if (/^[A-Za-z_$][\w$.?]*\s*[([]/.test(value)) return true;
  // `std::env::var(`
  if (/^[A-Za-z_]\w*(?:::[A-Za-z_]\w*){1,8}(?:::)?[(<]/.test(value)) return true;
  if (/^[A-Za-z_$][\w$.]*\\{0,2}<[A-Za-z]/.test(value) || /^<code>[A-Z][a-z]+(?:[A-Z][a-z]+)*$/.test(value))
    return true;
  if (/^[A-Za-z_$]+(?:\$\d{1,3})?(?:(?:\?\.|\.|::|->)#?[A-Za-z_$]+)+[;!]?$/.test(value))
    return !isDrawnLetters(value);
  if (/^(?:await|new|async|function|typeof|!|\(|&|\*)/.test(value) && !/\d/.test(value)) return true;
  if (regexSource.test(value)) return true;
  // `!!this.validate(ha2`, `_ref$clientSecret`: made by a compiler.
  if (/^!+[A-Za-z_$][\w$.]*\(/.test(value) || (!form.tight && /^_[a-z]\w*\$\w+$/.test(value))) return true;
  return /^_*[a-z]+(?:[A-Z][a-z]+)+;?$/.test(value) || /^_?[a-z]+(?:_[a-z]+)+;?$/.test(value);
}

/** `sts.StsCredentials;`: a type. */
const namespaced =
  /^[a-z_$][\w$]*\.(?:[A-Z][a-z]+)*(?:Credential|Token|Secret|Key|Type|Options|Password)s?;?$/;

/** `web3_eth_accounts_1.privateKeyToAddress`, `s3location.s3path`. */
const memberPath = /^[A-Za-z_$][\w$]*(?:(?:\?\.|\.)[A-Za-z_$][\w$]*)+;?$/;
const isMemberPath = (value: string): boolean =>
  memberPath.test(value) &&
  value.replace(/\D/g, '').length <= 4 &&
  !isDrawnLetters(value.replace(/[^A-Za-z]+/g, '')) &&
  value.split('.').every((part) => !looksRandom(part, 8));

/** `neo4j_driver_core_1.auth`: an import as TypeScript compiles it. */
const compiledImport = /^[A-Za-z_$][\w$]*_\d{1,3}\.[A-Za-z_$][\w$]*$/;

/** `this.password = arg2;` */
const argument = /^(?:arg|param|value|val|opt)s?\d{0,2}$/;

/**
 * `secret: round1Secret`, `progressToken: ProgressTokenSchema$1`, `secretKey: _size`, `token = 1*tchar`, `TOKEN =
 * /^m(i|n)$/`: a variable or a type with the same name, or a grammar.
 */
function namesItself(value: string, { tight }: ValueForm): boolean {
  if (/^\d{0,2}\*[A-Za-z(<]/.test(value) || value.startsWith('/^')) return true;
  // `r.streamToken=t.bytes===String?…`, `ratio: +obj.tokenRatio.toFixed(3)`.
  if (/^[A-Za-z_$][\w$.]*[=!]==/.test(value) || /^\+\(?[A-Za-z_$][\w$]*[.\s)]/.test(value)) return true;
  if (isMemberPath(value) && (!tight || /^[A-Za-z_$]{1,2}\??\./.test(value))) return true;
  if (tight) return false;
  return (
    /^_[a-z]{3,}$/.test(value) ||
    /^[A-Za-z_]+\d{0,4}[A-Za-z_]*(?:Secret|Tokens?|Key|Schema|Type|Kind|Credentials?|Body|Request|Response|Result|Options|Params)(?:\$\d{1,3})?$/.test(
      value,
    )
  );
}

/**
 * `DB_PASSWORD=tigerWindow`, `--password=tiger_window`, `password: tigerWindow` in YAML: looks like a variable, but programs
 * don't use such words, or write the sign without blanks.
 */
function isJoinedWords(value: string, form: ValueForm): boolean {
  if (form.next === 40 || form.next === 91) return false;
  if (form.setting && isSettingWord(value, form.setting)) return true;
  const isLine = form.startsLine && form.endsLine;
  if (form.outside && isLine && isNamedSecret(value)) return true;
  if (!isPassphrase(value)) return false;
  if (value.includes('.')) return form.tight && isLine;
  return form.tight || isLine || (form.outside === true && form.next !== 59);
}

/** The name is certainly a password's; in a `sure` setting also a likely one, or the name of another strong secret. */
const isUnderPassword = ({ rule, strength }: NameVerdict, { setting }: ValueForm): boolean =>
  setting === 'sure' ? rule === 'password' || strength === 3 : rule === 'password' && strength === 3;

/** Words in a setting. A value that ends like a credential's name may be a reference to it, unless the key is `sure`. */
const isSettingWord = (value: string, setting: SettingKind): boolean =>
  /^[A-Za-z][A-Za-z\d]*(?:[-_.][A-Za-z\d]+)*[!?#*]?$/.test(value) &&
  value.length >= 6 &&
  (setting === 'sure' ||
    !/(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|credentials?|file|path|ref|type|input)s?$/i.test(
      value,
    ));

/** `/^[A-Za-z0-9-_]+\.`, `[^\s:]{1,100}`: the pattern for a value. */
const regexSource = /^\/?\^?(?:\((?:\?[:<=!])?)?\[\^?[^\]\n]{1,40}(?:\](?:[+*?]|\{\d)|\n|$)/;

function isProse(value: string): boolean {
  if (!/\s/.test(value)) return false;
  const parts = value.toLowerCase().split(/[^a-z']+/);
  return parts.some(isProseWord) || parts.length > 12;
}

/** An unquoted word of letters only: a literal in literal contexts, otherwise a type, a variable or a word of prose. */
function isBareWordSecret(value: string, form: ValueForm): boolean {
  if (value.length < (form.setting === 'sure' ? 4 : 5)) return false;
  if (isDrawnLetters(value)) return true;
  if (form.next === 59) return form.tight && isTypedWord(value);
  if (form.next === 44 || form.next === 41) return form.tight && isTypedWord(value);
  // `password: SecretString`
  if (!form.tight && /^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/.test(value) && !isPassphrase(value)) return false;
  const isAlone = form.startsLine && form.endsLine;
  // A comment can also follow a variable in a program.
  if (isAlone && !form.tight && form.setting !== 'sure' && (form.next === 32 || form.next === 9))
    return isTypedWord(value);
  return form.tight || isAlone || looksRandom(value);
}

/** `runas password: sunflower`, at the end of its line. */
const isWordAtEnd = (value: string, verdict: NameVerdict, form: ValueForm): boolean =>
  verdict.rule === 'password' && form.endsLine && form.next !== 34 && isTypedWord(value);

/** Whether `value` must be withheld under a name with this verdict. */
export function isSecretValue(value: string, verdict: NameVerdict, form: ValueForm): boolean {
  const text = stripReferences(value.trim());
  // The tests that reject most values, before those that cost more.
  if (isVariableName(text) || (verdict.strength === 1 && !mayBeRandom(text))) return false;
  const isQuotedProse = form.quoted && verdict.form !== 'phrase' && isProse(text);
  if (isQuotedProse && !hasLongRandomPart(text)) return false;
  // `lf_${publicKey}_langfuse`: letters around what a template inserts.
  if (verdict.rule !== 'password' && !form.setting && text !== value.trim() && isAroundReference(text))
    return false;
  // `secrets: inherit`, of a workflow; a password may be any word.
  if (verdict.rule !== 'password' && (text === 'inherit' || isFileToRead(text))) return false;
  if (isStandIn(text) && !(verdict.rule === 'password' && isPartlyMasked(text))) return false;
  if (isPublicKey(text)) return false;
  // `ENCRYPTION_KEY=0123456789abcdef`: what a setting contains is in use.
  if (form.setting !== 'sure' && isExampleOf(text, verdict.rule)) return false;
  // `STORAGE_KEY_BASE = "GramJs-session-"`: the start of something.
  if (form.quoted && verdict.rule !== 'password' && /^[A-Za-z_-]{1,40}[-_:.]$/.test(text)) return false;
  if (form.quoted && verdict.rule !== 'password' && isMark(text)) return false;
  // `:type="visible ? 'text' : 'password'"`
  if (form.quoted && /^[\w$.!]{1,60} \? \\{0,8}["'`]/.test(text)) return false;
  if (!form.quoted && isElementState(text)) return false;
  if (form.quoted && regexSource.test(text) && /\\|\^/.test(text)) return false;
  if (!form.quoted && /^(?:string|str|text|bytes|any|boolean|number|void|Uint8Array)\b\s*[|;,=)&]/.test(text))
    return false;
  if (
    form.quoted
      ? isProgramPiece(value, verdict.rule === 'token' && !form.setting)
      : isCodePiece(text, form.setting !== undefined)
  )
    return false;
  if (!form.quoted && form.setting !== 'sure' && isCalledByContent(text)) return false;
  if (!form.quoted && /^[A-Z\d_]+$/.test(text) && isCalledAsMeant(text, verdict.rule)) return false;
  // For values that people don't type, another alphabet means prose.
  if (!form.quoted && verdict.rule !== 'password' && saysWhatItIs(text, verdict.rule)) return false;
  if (form.quoted && (saysWhatItIs(text, verdict.rule) || isCalledAsMeant(text, verdict.rule))) return false;
  if (verdict.form === 'phrase' && isStandIn(text.replace(/;$/, ''))) return false;
  // `passphrase: A string of passphrase for the private key`
  if (verdict.form === 'phrase' && /\s/.test(text) && /\bpass(?:phrase|word)s?\b/i.test(text)) return false;
  if (verdict.form === 'phrase') return form.quoted || form.startsLine || text.length >= 8;
  if (!form.quoted && verdict.rule !== 'password' && namesItself(text, form)) return false;
  if (!form.quoted && !form.tight && compiledImport.test(text)) return false;
  if (!form.quoted && !form.tight && form.next === 59 && argument.test(text)) return false;
  // `exports.ConnectionUpdateSecret = 655430;`: the number of a message.
  if (
    !form.quoted &&
    !form.tight &&
    form.next === 59 &&
    verdict.rule !== 'password' &&
    /^\d{1,9}$/.test(text)
  )
    return false;
  if (!form.quoted && isExpression(text, form))
    return isUnderPassword(verdict, form) && isJoinedWords(text, form);
  if (isQuotedProse) return true;
  if (!form.quoted && isProse(text)) return hasLongRandomPart(text);
  switch (verdict.strength) {
    case 3:
      return isStrongSecret(text, verdict, form);
    case 2:
      return isMediumSecret(text, verdict, form);
    case 1:
      if (verdict.form === 'code') return isQueryCode(text);
      // A prime of an RSA key has 43 characters in a key of 512 bits. Other things have one-letter names too.
      if (verdict.rule === 'jwk-prime') return /^[\w-]{43,700}$/.test(text) && looksRandom(text, 43);
      if (/^(?:session|cookie)$/.test(verdict.rule)) return isSession(text);
      if (isAlphabet(text) || (verdict.rule === 'key' && contentName.test(text))) return false;
      if (verdict.rule === 'signature' && ofTransaction.test(text)) return false;
      if (verdict.rule === 'jwk-private-part' && (!/^[\w=+/-]+$/.test(text) || /^\d+n$/.test(text)))
        return false;
      return productKey.test(text) || (looksRandomEscaped(text) && !isPublicId(text) && !isPlainDatum(text));
    default:
      return false;
  }
}

/** Not so short that it is nothing under a weak name: without a digit, random texts and ids have sixteen characters. */
const mayBeRandom = (text: string): boolean => text.length >= (/\d/.test(text) ? 8 : 16);

/** Of a message or a transaction: everybody can read it, and it grants nothing. */
const ofTransaction = /^0x[\da-f]{128}(?:[\da-f]{2})?$/i;

/** `linux-npm-<digest>`: the key of a cache. Not `app-live-<digest>`, whose issuer has keys for tests too. */
const contentName =
  /^(?!(?:[\w.]+-)*(?:live|sk|secret|private|api)-)(?:[A-Za-z][\w.]{0,23}-){2,6}(?:[\da-f]{32}|[\da-f]{40}|[\da-f]{64})$/;

/**
 * Random as an address writes it. Signs of passwords stand for themselves, in base64 (`aB3%2Bc4D%2Fe5F%3D`) two are letters, and others
 * part words: `value%23still-query`. The length counts as it is written.
 */
function looksRandomEscaped(text: string): boolean {
  if (!text.includes('%')) return looksRandom(text);
  const isBase64 = /%2B|(?:%3D){1,2}$/i.test(text);
  const plain = text.replace(/%([\dA-F]{2})/gi, (_, code: string) => {
    const sign = String.fromCharCode(Number.parseInt(code, 16));
    if (isBase64 && /[+/]/.test(sign)) return 'A';
    return /[/=!@$^*]/.test(sign) ? sign : '-';
  });
  return looksRandom(plain, Math.max(8, 16 - (text.length - plain.length)));
}

/** The value of a cookie: short ones and digests count too, but not ids of protocols and agents. */
const isSession = (text: string): boolean =>
  digest.test(text) || (looksRandom(text, 8) && !isPublicId(text) && !isPlainDatum(text));

/** An authorization code, not a status or an error code. */
const isQueryCode = (text: string): boolean =>
  /^[\w.~+/%=-]+$/.test(text) &&
  !isSequence(text) &&
  !/EXAMPLE/.test(text) &&
  (looksRandom(text, 10) || (text.length >= 16 && isPublicId(text)));

function isStrongSecret(text: string, verdict: NameVerdict, form: ValueForm): boolean {
  // The password in the address is found separately.
  if (/^[a-z][a-z\d+.-]{1,20}:\/\/[^\s@]{1,200}@/i.test(text)) return false;
  // Tokens of a tokenizer: `{"token": "hello"}`, `const token = '<!--'`.
  if (verdict.rule === 'token' && /^[^A-Za-z\d]{1,8}$/.test(text) && !/[^ -~]/.test(text)) return false;
  if (verdict.rule === 'token' && /^(?:\d{1,7}|[A-Za-z]{1,15})$/.test(text)) return isDrawnLetters(text);
  // Kinds of tokens in an editor: `token: "variable-2"`.
  if (verdict.rule === 'token' && form.quoted && kindOfToken.test(text)) return false;
  if (isPlainDatum(text) && !/^[-+]?\d+$/.test(text) && !/@/.test(text)) return hasUserInfo(text);
  if (form.quoted) return text.length >= 3;
  if (/^[A-Za-z]+$/.test(text)) return isBareWordSecret(text, form) || isWordAtEnd(text, verdict, form);
  return text.length >= 4;
}

const kindOfToken =
  /^(?:atom|attribute|bracket|builtin|comment|def|error|header|keyword|link|meta|number|operator|property|qualifier|quote|string|tag|type|variable)-\d$/;

/** `@babel/plugin-class-features/version`: what a package calls its entry in a map that others use too. */
const packagePath = /^@[a-z][a-z\d-]{1,40}(?:\/[#@A-Za-z_][\w@-]{1,80}){1,6}$/;

function isMediumSecret(text: string, verdict: NameVerdict, form: ValueForm): boolean {
  if (isSentence(text) || isForeignSentence(text) || (form.quoted && isTranslated(text)))
    return hasLongRandomPart(text);
  // The secret that the codes are derived from: `"totp": "JBSW…"`.
  if (verdict.rule === 'one-time-code' && /^[A-Z2-7]{16,104}=*$/.test(text) && /\d/.test(text)) return true;
  // `pin: '2026-07-28'`: the version of a protocol.
  if (verdict.rule === 'pin' && /^20\d\d-\d\d-\d\d$/.test(text)) return false;
  if (/^(?:pin|one-time-code|national-id)$/.test(verdict.rule))
    return /^(?=.*\d)(?:[A-Za-z\d-]{3,12}|[A-Z\d]{4,8}(?:-[A-Z\d]{4,8}){1,7})$/.test(text);
  if (verdict.rule === 'api-key' && form.quoted && packagePath.test(text) && !hasRandomPart(text, 8))
    return false;
  if (isPlainDatum(text)) return verdict.rule === 'password' && /^\d{6,}$/.test(text);
  if (verdict.rule === 'password' && (form.tight || form.setting) && isTypedWord(text)) return true;
  if (verdict.rule === 'password' || verdict.rule === 'credential') {
    if (/^[A-Za-z_-]+$/.test(text))
      return (verdict.rule === 'password' && form.quoted && text.length >= 6) || isDrawnLetters(text);
    const isWhole = form.quoted || form.tight || (form.startsLine && form.endsLine);
    if (verdict.rule === 'password' && (isWhole || form.endsLine) && wordAndNumber.test(text))
      return isWhole || !isAlgorithm(text);
    return (
      text.length >= 6 &&
      (!isReadableList(text) ||
        isDrawnLetters(text.replace(/[^A-Za-z]+/g, '')) ||
        /^[\w.@-]{1,64}:(?=.{6})(?=(?:.*\d){4})[\w.-]*$/.test(text) ||
        (verdict.rule === 'password' && (isWordsAndNumbers(text) || (form.quoted && isInvented(text)))))
    );
  }
  return looksRandom(text, 8) || productKey.test(text) || (text.length >= 20 && !isReadableList(text));
}

/** `letmein74`, `kaffeetasse3` */
const wordAndNumber = /^(?:[A-Za-z]{4,}[!#*_-]?\d{2,}|[A-Za-z]{8,}\d)[!#*]?$/;

/** Groups of capitals and digits with hyphens between them, as in license keys. */
const productKey = /^(?=.*\d)(?=(?:[^-]*[A-Z]){3})(?:[A-Z0-9]{4,8}-){2,7}[A-Z0-9]{4,8}$/;

/** `delta_239_karma76`: words, but not a name that a person would choose. */
const isWordsAndNumbers = (text: string): boolean => looksChosen(text) && text.replace(/\D/g, '').length >= 4;
const isReadableList = (text: string): boolean =>
  text.split(/[-_./:\s]+/).every((part) => part === '' || isReadable(part));
const hasUserInfo = (text: string): boolean => /:\/\/[^/\s]*:[^/\s]*@/.test(text);

/** `apiKey: "OPENAI_API_KEY"`: the name of the variable that contains it. */
export const isVariableName = (value: string): boolean => variableName.test(value);
const variableName =
  /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:(?:API|ACCESS|SECRET)_KEY|(?:AUTH|ACCESS|API)_TOKEN)$/;

/** What a template writes beside a reference; not letters that were drawn, nor words that are joined without a sign. */
const isAroundReference = (text: string): boolean =>
  /^(?:[A-Za-z]{0,15}[_.-])*[A-Za-z]{0,15}$/.test(text) && !isDrawnLetters(text.replace(/[_.-]+/g, ''));

/** `Bearer ${token}` hides nothing; `${user}:hunter2` does. */
function stripReferences(text: string): string {
  if (!text.includes('${') && !text.includes('{{') && !text.includes('$(')) return text;
  // `sb-${host}-auth-token`: one sign is left where two were around it.
  return text.replace(
    /([-_.:])?(?:\$\{[^{}]{0,100}\}|\{\{[^{}]{0,100}\}\}|\$\([^()]{0,100}\))(?:\1)?/g,
    '$1',
  );
}
