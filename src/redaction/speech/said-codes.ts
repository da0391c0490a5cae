/**
 * A one-time code that a message tells, in any language: `il tuo codice di verifica è 482913`, `Doğrulama kodunuz: 482913`,
 * `482913 ist Ihr Code`, `验证码482913`. A number alone is nothing: the word for a code must be said of somebody (`your code`) or
 * say what the code is for, and not be another code's (`error code`, `code postal`).
 */
import type { Finding, Page } from '../scan/page.ts';

/** Where the walk stops: words for a code, and the ASCII pieces of such words. */
export const codeWords =
  'code codice codigo digo kod kode koden kodu kodunuz koodi koodisi kods codul cod otp tan passcode securecode tigungscode sicherheitscode einmalcode anmeldecode zugangscode verifizierungscode verificatiecode bevestigingscode inlogcode';

const number = String.raw`(?:\d{4}#\d{1,8}|\d{4,8}|\d{3}[- ]\d{3}|[A-Z]{1,2}-\d{5,7})`;
const joins =
  'is|are|ist|lautet|est|es|e|è|é|er|är|to|je|jest|on|is het|este|adalah|ialah|là|van|as|als|como|comme';
/** The number at once, behind a colon, or behind a verb; words before these may say whose code it is. */
const behindWord = new RegExp(
  `^["'»”]?(?<between>(?: [\\p{L}\\d@.,+'’-]{1,16}){0,6}?)(?<join>:|=|['’]s|(?: (?:${joins}))?:?)[ ]{0,2}[<"'\`[(*]{0,2}(?<number>${number})(?![\\w-]|[.,:]\\d)`,
  'iu',
);
const beforeWord = new RegExp(
  `(?:^|[\\s"'(<*])(?<number>${number})["')>*]{0,2} (?:${joins}) (?:[\\p{L}-]{1,16} ){1,4}\\p{L}{0,12}$`,
  'iu',
);

const saysWhatFor =
  /verif|valid|confirm|conferm|best[äa]t|tigung|secur|segur|sicher|sigur|s[äa]kerhe|sikkerh|acces|login|log-in|sign-?in|connexion|anmeld|inlog|logow|connect|sms|2fa|mfa|factor|einmal|one-?time|unlock|activ|attiv|do[ğg]rula|onay|weryfik|potvr|ov[ěe][řr]|auth|autent|potwier|godkend|bekr[äæ]ft|vahvist|ellen[őo]rz|x[áa]c (?:thực|minh)|otp|verifik|toegang|door|gate|\bov(?:i|en|een)\b|\bt[üu]r|\bport(?:a|e|ail|ão)\b|puerta|alarm|garage|\block|manager|operator|safe|tresor|coffre/i;
const saysWhose =
  /(?:^|[^\p{L}])(?:your|my|ihre?|deine?|meine?|votre|ton|mon|tu|su|mi|tuo|suo|mio|seu|sua|teu|meu|tw[óo]j|m[óo]j|v[áa][šs]|tv[ůu]j|din|ditt|ditt|sinun|jouw|uw|jullie|sizin|codul t[ăa]u|anda|của bạn)(?:[^\p{L}]|$)/iu;
const isOther =
  /err|exit|zip|post|fehl|feil|fel(?:kod)?\b|status|country|area|\bbar|\bqr|prod|colou?r|source|discount|promo|coupon|rabat|gutschein|refer|region|bank|sort|swift|tax|http|return|respon|order|item|dress|block|line|char|key ?code|vat|hs |version|batch|lot|track|depart|cost|currency|langu|gender/i;
/** Words that mean nothing but a one-time code. */
const isOnly = /^(?:otp|tan|kodunuz|passcode|securecode|[a-z]{4,}code|verif\w+)$/;

const mayBeCode = /\d{4}|\d{3}[- ]\d{3}|-\d{5}/;

/** The one-time code that the word at [start, end) announces; `stop` is its lower case. */
export function findSaidCode(
  { text, units }: Page,
  stop: string,
  start: number,
  end: number,
): Finding | undefined {
  if (stop === 'tan' && units[start]! > 96) return undefined;
  if (stop === 'digo' && units[start - 1]! < 128) return undefined;
  const before = text.slice(Math.max(0, start - 60), start);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const rest = text.slice(end, end + 110);
  // Nearly no line with such a word has a number.
  if (!mayBeCode.test(rest) && !mayBeCode.test(line)) return undefined;
  const isSpecial = isOnly.test(stop);
  const isAny = (between: string, around: string): boolean =>
    (isSpecial || saysWhatFor.test(around) || saysWhose.test(around)) &&
    !isOther.test(line.slice(-20)) &&
    !isOther.test(between);
  const behind = behindWord.exec(rest)?.groups;
  if (behind) {
    const { between = '', join = '', number: code = '' } = behind;
    const around = line.slice(-40) + between;
    // Without a sign or a verb, the number must follow at once, and its kind be said.
    const isDirect = between === '' && (isSpecial || saysWhatFor.test(around));
    if ((join !== '' || isDirect) && isAny(between, around))
      return found(text.indexOf(code, end + between.length + join.length), code);
  }
  const first = beforeWord.exec(line)?.groups?.['number'];
  if (first === undefined) return undefined;
  const said = line.slice(line.lastIndexOf(first) + first.length) + text.slice(end, end + 24);
  if (!isAny(said, said)) return undefined;
  return found(start - line.length + line.lastIndexOf(first), first);
}

const found = (start: number, code: string): Finding => ({
  start,
  end: start + code.length,
  rule: 'one-time-code',
});

const nativeCode =
  /(?:код(?!е|ек)|验证码|校验码|动态码|驗證碼|認証コード|確認コード|認証番号|ワンタイム|인증 ?번호|인증 ?코드|رمز|קוד|ओटीपी|कोड|รหัส|κωδικ)[^\n\r\d<>{}=;]{0,40}$/i;
const nativeBehind =
  /^["'」】\]]?[ ]?(?:—|-|–|это|є|が|は|为您的|是您的|ваш)?[ ]?(?:[^\s\d]{1,12}[ ])?(?:код|验证码|校验码|驗證碼|認証コード|確認コード|인증번호)/i;
const otherNative =
  /ошиб|помил|товар|почт|страны|错误|錯誤|商品|邮政|エラー|商品|오류|상품|우편|خطأ|שגיאה|त्रुटि/;

/** Whether the number at [start, end), beside letters of no Latin script, is told to be a code. */
export function isNativeCode(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 60), start);
  const behind = text.slice(end, end + 30);
  const lead = nativeCode.exec(before)?.[0];
  if (lead !== undefined) return !otherNative.test(lead);
  return nativeBehind.test(behind) && !otherNative.test(behind);
}
