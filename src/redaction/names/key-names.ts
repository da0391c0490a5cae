/**
 * Decides from a name alone (a variable, a field, a header, a flag, a query parameter) whether its value is a credential.
 * Names come in any casing: they are cut into words, the sensitive word is found, and the words around it may make it
 * harmless (`max_tokens`, `public_key`, `password_policy`). Knows nothing about values.
 */

import { splitName } from './name-words.ts';
import { mayHoldStem } from './telling-stems.ts';

/** How much a value must look like a secret to be withheld under such a name. */
const strengths = {
  none: 0,
  /** Only what looks random and is no id, digest or path. */
  weak: 1,
  /** Whatever is a literal and no plain word. */
  medium: 2,
  /** Whatever is a literal. */
  strong: 3,
} as const;
export type Strength = (typeof strengths)[keyof typeof strengths];

export interface NameVerdict {
  strength: Strength;
  /** The rule in the placeholder. */
  rule: string;
  /**
   * `authorization` and `cookie` values have their own format; `label` names another field (`name: X, value: …`); a
   * `manifest` contains secrets if the fields around it indicate so.
   */
  form?: 'authorization' | 'cookie' | 'set-cookie' | 'label' | 'content' | 'phrase' | 'code' | 'manifest';
}

const words = (text: string): Set<string> => new Set(text.split(/\s+/));

function buildVocabulary() {
  return {
    /** Those that also end a longer word are in gluedEnds. */
    password: words(
      `psw pw pass passw pword motdepasse contrasena senha parool kennwort
      passord adgangskode wachtwoord heslo haslo salasana lozinka jelszo losenord sifre parola passkode passe clave chave psk
      geslo pasahitza contrasenya contrasinal nenosiri wagwoord cyfrinair laluan kataluan slaptazodis lykilord fjalekalimi sandi`,
    ),
    secret: words('geheimnis segreto segreta secreto sekret pepper'),
    token: words('token tokens jwt pat authtok bearer jeton'),
    /** Words before `key` that make it a credential whatever the value. */
    strongKeys: words(
      'api app private access secret auth master encryption signing shared account ssh storage subscription',
    ),
    /** Words before `key` or `token` under which it is public or no credential at all. */
    harmlessBefore:
      words(`public pub publishable primary foreign partition sort range cache idempotency composite
      unique natural surrogate hash map object dict dictionary group index lookup query state react row column item
      entity record max min num total count input output prompt completion cached reasoning thinking context stop eos bos
      pad unk sep cls mask special next prev previous page continuation pagination cancel cancellation cancelled start end
      image audio text used remaining available per estimated budget limit billed generated new tool system
      soft hard first last translation i18n message event default hot short press arrow enter escape
      duplicate join dedupe dedup metric label tag trace span run step node lock sorting
      bind reg recv candidates parent child registry site`),
    /** Words after the sensitive word that turn it into a property of a credential. */
    harmlessAfter:
      words(`count counts length len lifetime lifetimes duration validity limit limits max min num number total used usage budget type types
      name names url uri urls endpoint path paths file filename dir directory expires expire expiry expiration expired
      exp ttl age at issued created updated policy policies rotation version format strategy provider prefix suffix
      pattern regex lengths lifespan lifespans field fields param params parameter header label title placeholder hint help error errors message
      status state valid invalid required enabled disabled is manager service store cache factory handler validator
      generator tokenizer tokenization encoding encoder decoder algorithm alg algo cost rate price arn ref reference
      source location region size bytes ms seconds strength score mode class owner scope scopes audience issuer
      id ids maps usages spec schema config options settings details info metadata management manager prompt input
      requirements attempts retries timeout callback listener middleware guard fn func function reset form page screen
      stdin prompted encryption encoders hashers hasher hashing verifier verifiers validators validation view button icon visibility visible hidden changed mismatch match matches
      reason reasons rule rules kind kinds exists missing present ready sha fingerprint thumbprint digest checksum hint bucket window per
      estimate estimated details vocab probs logprobs embedding embeddings ids idx index offset offsets span spans pos
      challenge backend position stream streaming throughput speed latency stats counter histogram sent received generated`),
    /** Words after the sensitive word that change nothing. */
    silentAfter:
      words(`value val str string text raw plain plaintext b64 enc encoded encrypted data current old
      new prod dev test staging live sandbox production development primary secondary base default env here env backup
      v1 v2 v3 a b json pem query hash hashed salt again confirm confirmation repeat x for`),
    /** Whole names, joined and in lower case. */
    whole: new Map<string, NameVerdict>([
      ['authorization', { strength: 2, rule: 'authorization', form: 'authorization' }],
      ['proxyauthorization', { strength: 2, rule: 'authorization', form: 'authorization' }],
      ['xauthorization', { strength: 2, rule: 'authorization', form: 'authorization' }],
      ['xforwardedauthorization', { strength: 2, rule: 'authorization', form: 'authorization' }],
      ['cookie', { strength: 2, rule: 'cookie', form: 'cookie' }],
      ['cookies', { strength: 2, rule: 'cookie', form: 'cookie' }],
      ['cookiejar', { strength: 2, rule: 'cookie', form: 'cookie' }],
      ['setcookie', { strength: 2, rule: 'cookie', form: 'set-cookie' }],
      ['name', { strength: 0, rule: '', form: 'label' }],
      ['header', { strength: 0, rule: '', form: 'label' }],
      ['variable', { strength: 0, rule: '', form: 'label' }],
      ['field', { strength: 0, rule: '', form: 'label' }],
      ['parameter', { strength: 0, rule: '', form: 'label' }],
      ['param', { strength: 0, rule: '', form: 'label' }],
      ['property', { strength: 0, rule: '', form: 'label' }],
      ['parametername', { strength: 0, rule: '', form: 'label' }],
      ['parameterkey', { strength: 0, rule: '', form: 'label' }],
      ['key', { strength: 1, rule: 'key', form: 'label' }],
      ['value', { strength: 0, rule: '', form: 'content' }],
      ['val', { strength: 0, rule: '', form: 'content' }],
      ['string', { strength: 0, rule: '', form: 'content' }],
      ['td', { strength: 0, rule: '', form: 'content' }],
      ['dd', { strength: 0, rule: '', form: 'content' }],
      ['data', { strength: 0, rule: '', form: 'manifest' }],
      ['stringdata', { strength: 0, rule: '', form: 'manifest' }],
      ['optionname', { strength: 0, rule: '', form: 'label' }],
      ['optionvalue', { strength: 0, rule: '', form: 'content' }],
      ['metakey', { strength: 0, rule: '', form: 'label' }],
      ['metavalue', { strength: 0, rule: '', form: 'content' }],
      ['settingname', { strength: 0, rule: '', form: 'label' }],
      ['settingvalue', { strength: 0, rule: '', form: 'content' }],
      ['outputkey', { strength: 0, rule: '', form: 'label' }],
      ['outputvalue', { strength: 0, rule: '', form: 'content' }],
      ['parametervalue', { strength: 0, rule: '', form: 'content' }],
      ['stringvalue', { strength: 0, rule: '', form: 'content' }],
      ['type', { strength: 0, rule: 'type', form: 'label' }],
      ['googleaccessid', { strength: 0, rule: '' }],
      ['keypairid', { strength: 0, rule: '' }],
      ['otp', { strength: 2, rule: 'one-time-code' }],
      ['totp', { strength: 2, rule: 'one-time-code' }],
      ['motdepasse', { strength: 3, rule: 'password' }],
      ['secwebsocketkey', { strength: 0, rule: '' }],
      ['secwebsocketaccept', { strength: 0, rule: '' }],
      ['sshauthsock', { strength: 0, rule: '' }],
      ['gpgkey', { strength: 0, rule: '' }],
      ['authident', { strength: 3, rule: 'credential' }],
      ['npmauthident', { strength: 3, rule: 'credential' }],
      ['mnemonic', { strength: 3, rule: 'seed-phrase', form: 'phrase' }],
      ['seedphrase', { strength: 3, rule: 'seed-phrase', form: 'phrase' }],
      ['recoveryphrase', { strength: 3, rule: 'seed-phrase', form: 'phrase' }],
      ['mnemonicphrase', { strength: 3, rule: 'seed-phrase', form: 'phrase' }],
      ['phrase', { strength: 1, rule: 'phrase' }],
      ['v', { strength: 0, rule: '', form: 'content' }],
      ['new', { strength: 0, rule: '', form: 'content' }],
      ['old', { strength: 0, rule: '', form: 'content' }],
      ['newvalue', { strength: 0, rule: '', form: 'content' }],
      ['oldvalue', { strength: 0, rule: '', form: 'content' }],
      ['passphrase', { strength: 3, rule: 'password', form: 'phrase' }],
      ['code', { strength: 1, rule: 'authorization-code', form: 'code' }],
      ['codeverifier', { strength: 3, rule: 'secret' }],
      ['hmac', { strength: 1, rule: 'signature', form: 'code' }],
      ['codes', { strength: 1, rule: 'authorization-code', form: 'code' }],
      ['sig', { strength: 2, rule: 'signature', form: 'code' }],
      ['xamzsignature', { strength: 3, rule: 'presigned-signature' }],
      ['xgoogsignature', { strength: 3, rule: 'presigned-signature' }],
      ['xosssignature', { strength: 3, rule: 'presigned-signature' }],
      ['xamzcredential', { strength: 2, rule: 'presigned-credential' }],
      ['xgoogcredential', { strength: 2, rule: 'presigned-credential' }],
      ['sid', { strength: 1, rule: 'session' }],
      ['connectsid', { strength: 3, rule: 'session' }],
      ['phpsessid', { strength: 3, rule: 'session' }],
      ['jsessionid', { strength: 3, rule: 'session' }],
      ['aspsessionid', { strength: 3, rule: 'session' }],
      ['aspnetsessionid', { strength: 3, rule: 'session' }],
      ['sessionid', { strength: 1, rule: 'session' }],
      ['sessid', { strength: 2, rule: 'session' }],
      ['sessioncookie', { strength: 3, rule: 'session' }],
      ['pin', { strength: 2, rule: 'pin' }],
      ['pincode', { strength: 2, rule: 'pin' }],
      ['mfacode', { strength: 2, rule: 'one-time-code' }],
      ['otpcode', { strength: 2, rule: 'one-time-code' }],
      ['cvv', { strength: 2, rule: 'pin' }],
      ['cvc', { strength: 2, rule: 'pin' }],
      ['accesskeyid', { strength: 2, rule: 'access-key-id' }],
      ['awsaccesskeyid', { strength: 2, rule: 'access-key-id' }],
      ['ldapdefaultauthtok', { strength: 3, rule: 'password' }],
      ['wpapsk', { strength: 3, rule: 'password' }],
      ['otpseed', { strength: 3, rule: 'secret' }],
      ['totpseed', { strength: 3, rule: 'secret' }],
      ['signingseed', { strength: 3, rule: 'secret' }],
      ['kek', { strength: 2, rule: 'encryption-key' }],
      ['dek', { strength: 2, rule: 'encryption-key' }],
      ['claveapi', { strength: 3, rule: 'api-key' }],
      ['oauthverifier', { strength: 3, rule: 'secret' }],
      ['samlresponse', { strength: 3, rule: 'token' }],
      ['clientassertion', { strength: 3, rule: 'token' }],
      ['idtokenhint', { strength: 3, rule: 'token' }],
      ['devicecode', { strength: 2, rule: 'token' }],
      ['unlockcode', { strength: 2, rule: 'credential' }],
      ['netsessionid', { strength: 3, rule: 'session' }],
      ['requirepass', { strength: 3, rule: 'password' }],
      ['masterauth', { strength: 3, rule: 'password' }],
      ['xauth', { strength: 2, rule: 'credential' }],
      ['basicauth', { strength: 3, rule: 'credential' }],
      ['bindcredentials', { strength: 3, rule: 'password' }],
      ['userpwd', { strength: 3, rule: 'credential' }],
      ['userpass', { strength: 3, rule: 'credential' }],
      ['identifiedby', { strength: 3, rule: 'password' }],
      ['seed', { strength: 1, rule: 'secret' }],
      ['p8', { strength: 2, rule: 'private-key' }],
      ['p12', { strength: 2, rule: 'private-key' }],
      ['pfx', { strength: 2, rule: 'private-key' }],
      ['api', { strength: 1, rule: 'api-key' }],
      ['ksecvaluedata', { strength: 3, rule: 'password' }],
      ['refresh', { strength: 1, rule: 'token' }],
      ['encrypt', { strength: 1, rule: 'encryption-key' }],
      ['private', { strength: 1, rule: 'private-key' }],
      ['puk', { strength: 2, rule: 'pin' }],
      ['ssn', { strength: 2, rule: 'national-id' }],
      ['passkey', { strength: 2, rule: 'pin' }],
      ['wif', { strength: 2, rule: 'private-key' }],
      ['selector', { strength: 0, rule: 'selector', form: 'label' }],
      ['element', { strength: 0, rule: 'selector', form: 'label' }],
      ['label', { strength: 0, rule: 'selector', form: 'label' }],
      ['oldpwd', { strength: 0, rule: '' }],
    ]),
    /** Ends of one written-together word, with the strength and rule of its name. */
    gluedEnds: [
      [/(?:password|passwd|passwort|passphrase|passcode)s?$/, 3, 'password'],
      [
        /[a-z]{3}(?:kennwort|wachtwoord|losenord|salasana|passord|adgangskode|kodeord|lozinka)$/,
        3,
        'password',
      ],
      [
        /(?:db|my|user|usr|admin|root|smtp|imap|mail|ftp|sftp|ssh|pg|sql|mysql|redis|mongo|ldap|proxy|http|api|app|login|wifi|key|store|keystore|deststore|srcstore|truststore|bind|auth|user|cert|p12|pfx|vpn|jdbc|svn|git)(?:pass|pwd|psw|pw)$/,
        3,
        'password',
      ],
      [/(?:secret|clientsecret)s?$/, 3, 'secret'],
      [
        /(?:api|access|secret|private|auth|account|master|sign|signing|encryption|app|shared|ssh|license|storage|subscription|service)keys?$/,
        3,
        'api-key',
      ],
      [
        /(?:auth|access|refresh|bearer|id|session|api|bot|user|app|csrf|xsrf|middleware|security|identity|client|personal|deploy|oauth|registry|login|admin|verification|reset|invite|device|push)token$/,
        3,
        'token',
      ],
      [/(?:credential|creds)s?$/, 3, 'credential'],
      [/^(?:klucz|(?:toegangs|geheime)?sleutel|(?:zugangs|zugriffs|geheim)?schluessel)$/, 2, 'api-key'],
      [/pwd$/, 3, 'password'],
      [
        /^(?:portal|zugangs|zugriffs|sicherheits|freischalt|aktivierungs|access|unlock|login|door|pass)code$/,
        2,
        'one-time-code',
      ],
    ] as [RegExp, Strength, string][],
  };
}

let vocabulary: ReturnType<typeof buildVocabulary> | undefined;

const nothing: NameVerdict = { strength: 0, rule: '' };

/** Longer names are ignored. */
export const longestName = 80;

/** Pure and slow (about a microsecond): callers cache the result. */
export function judgeName(name: string): NameVerdict {
  if (name === 'd') return { strength: 1, rule: 'jwk-private-part' };
  if (/^(?:p|q|d[pq]|qi)$/.test(name)) return { strength: 1, rule: 'jwk-prime' };
  if (name === 'k') return { strength: 1, rule: 'jwk-private-part', form: 'label' };
  if ((name.length < 2 && name !== 'v') || name.length > longestName) return nothing;
  vocabulary ??= buildVocabulary();
  const parts = splitName(name);
  if (parts.length === 0) return nothing;
  const known = vocabulary.whole.get(parts.join('')) ?? vocabulary.whole.get(withoutX(parts).join(''));
  if (known) return known;
  for (let i = parts.length - 1; i >= 0; i--) {
    const verdict = mayHoldStem(parts[i]!) ? judgeWord(parts, i) : undefined;
    if (!verdict) continue;
    if (harmlessTail(parts, i + 1)) return nothing;
    if (elsewhere.test(parts[i + 1] ?? '')) return fromElsewhere(verdict);
    // `ERR_INVALID_CLIENT_SECRET = 404060`: the name of an error.
    return parts.length > 2 &&
      (functions.test(parts[0]!) || parts.slice(0, i).some((word) => faults.test(word)))
      ? { strength: 1, rule: verdict.rule }
      : verdict;
  }
  return nothing;
}

/** The name of a function that returns, creates or checks a credential: its value is code. */
const functions = /^(?:acquire|get|is|has|create|generate|validate|allowed|random)$/;
const faults = /^(?:err|error|invalid|missing|incorrect|unauthorized|forbidden)$/;

const withoutX = (parts: string[]): string[] => (parts[0] === 'x' ? parts.slice(1) : parts);

/** `tokensFrom`, `passwordFrom: vault`: where it is kept, unless the value looks like the password itself. */
const elsewhere = /^from$/;
const fromElsewhere = ({ rule, strength }: NameVerdict): NameVerdict =>
  rule === 'token' ? nothing : { rule, strength: Math.min(strength, 2) as NameVerdict['strength'] };

/** The words after the sensitive one make it a property of a credential, or something else. */
function harmlessTail(parts: string[], from: number): boolean {
  const { harmlessAfter, silentAfter } = vocabulary!;
  for (let i = from; i < parts.length; i++) {
    const word = parts[i]!;
    if (harmlessAfter.has(word)) return true;
    if (!silentAfter.has(word)) return parts.length - from > 2;
  }
  return false;
}

/** Words before `pass` that make it a noun: `DB_PASS`, `ansible_become_pass`. */
const holdsPassword =
  /^(?:db|database|my|user|usr|admin|root|smtp|imap|mail|email|ftp|sftp|ssh|pg|postgres|sql|mysql|redis|mongo|rabbitmq|mq|ldap|proxy|http|api|app|login|wifi|key|store|keystore|truststore|bind|auth|cert|p12|pfx|vpn|jdbc|svn|git|become|sudo|svc|service|basic|client|bot|docker|registry|rpc|vault|backup|elastic|es|kafka|vnc|rdp|web|host|server|temp|master|default|ci)$/;

/** Words before `pin` that make it a number to be typed, not a contact of a circuit. */
const ofPeople =
  /^(?:service|mode|keystore|store|key|card|smartcard|atm|sim|unlock|lock|door|gate|alarm|access|security|admin|user|login|parental|device|prefs|voicemail|wallet|payment|debit|bank|account|customer|member|token|hsm|yubikey|piv|pairing|bluetooth|setup|install|conference|meeting|host|guest|default|master|current|wps|wallbox)$/;

/** The verdict for the word at `i`, without the words after it. */
function judgeWord(parts: string[], i: number): NameVerdict | undefined {
  const { password, secret, token, strongKeys, harmlessBefore, gluedEnds } = vocabulary!;
  const word = parts[i]!;
  const before = parts[i - 1];
  if (password.has(word)) {
    if (/^(?:pass|pw|clave|chave)$/.test(word))
      return { strength: holdsPassword.test(before ?? '') ? 3 : 2, rule: 'password' };
    return { strength: 3, rule: 'password' };
  }
  if (secret.has(word)) return before === 'existing' ? nothing : { strength: 3, rule: 'secret' };
  if (token.has(word)) {
    if (before !== undefined && before !== 'registry' && harmlessBefore.has(before)) return nothing;
    // `publicKeyToken`: .NET's short form of a public key.
    if (before === 'key' && parts[i - 2] === 'public') return nothing;
    if (word === 'tokens') return { strength: before === undefined ? 1 : 2, rule: 'token' };
    if (word === 'pat') return { strength: 2, rule: 'token' };
    return { strength: 3, rule: 'token' };
  }
  if (word === 'key' || word === 'keys') return judgeKeyWord(before, strongKeys, harmlessBefore);
  if (word === 'id' && before === 'key' && /^(?:access|secret)$/.test(parts[i - 2] ?? ''))
    return { strength: 2, rule: 'access-key-id' };
  if (word === 'salt' && /^(?:auth|in|nonce|session|cookie|jwt|token|app|hash|keys?)$/.test(before ?? ''))
    return { strength: 2, rule: 'secret' };
  // `login_challenge`: whoever has it continues that sign-in. Not PKCE's `code_challenge`, which is public.
  if (word === 'challenge')
    return /^(?:login|consent|logout|auth|mfa|otp|totp|device|signin|session)$/.test(before ?? '')
      ? { strength: 2, rule: 'token' }
      : undefined;
  if (/^(?:credentials?|creds?)$/.test(word)) return { strength: 2, rule: 'credential' };
  if (/^(?:auth|oauth|csrf|xsrf|sas|cookie|sess|session|signature)$/.test(word) && i === parts.length - 1) {
    const isWeak = /^s(?:ignature|ess(?:ion)?)$/.test(word);
    return { strength: isWeak ? 1 : 2, rule: isWeak ? word.replace(/^sess$/, 'session') : 'credential' };
  }
  if (
    /^codes?$/.test(word) &&
    (before !== 'time' || parts[i - 2] === 'one') &&
    /^(?:time|verification|auth|authorization|security|backup|recovery|activation|otp|mfa|login|device|access|pin|pass|unlock|door|gate|alarm|entry|pairing|reset|sms)$/.test(
      before ?? '',
    )
  )
    return { strength: 2, rule: 'one-time-code' };
  if (i === parts.length - 1 && /^t?otp$/.test(word)) return { strength: 2, rule: 'one-time-code' };
  if (i === parts.length - 1 && word === 'pin' && ofPeople.test(before ?? ''))
    return { strength: 2, rule: 'pin' };
  if (word === 'signing' && before !== undefined && i === parts.length - 1)
    return { strength: 1, rule: 'secret' };
  for (const [pattern, strength, rule] of gluedEnds) if (pattern.test(word)) return { strength, rule };
  return undefined;
}

function judgeKeyWord(
  before: string | undefined,
  strongKeys: Set<string>,
  harmlessBefore: Set<string>,
): NameVerdict {
  if (before === undefined) return { strength: 1, rule: 'key' };
  if (harmlessBefore.has(before) || /^(?:id|thumbprint|fingerprint)$/.test(before)) return nothing;
  return { strength: strongKeys.has(before) ? 3 : 2, rule: before === 'private' ? 'private-key' : 'api-key' };
}
