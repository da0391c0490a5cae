/**
 * A one-time code that a message tells, in any language: `il tuo codice di verifica è 482913`, `Doğrulama kodunuz: 482913`,
 * `482913 ist Ihr Code`, `验证码482913`. A number alone is nothing: the word for a code must be said of somebody (`your code`) or
 * say what the code is for, and not be another code's (`error code`, `code postal`).
 */
import type { NamePlace } from '../names/name-place.ts';
import type { Finding, Page } from '../scan/page.ts';
import { speaker } from './said-words.ts';

/** Where the walk stops: words for a code, and the ASCII pieces of such words. */
export const codeWords =
  'code codice codigo digo kod kode koden kodu kodunuz koodi koodisi kods codul cod otp tan passcode securecode tigungscode sicherheitscode einmalcode anmeldecode zugangscode verifizierungscode verificatiecode bevestigingscode inlogcode';

const number = String.raw`(?:\d{4}#\d{1,8}|\d{4,8}|\d{3}[- ]\d{3}|[A-Z]{1,2}-\d{5,7})`;
const joins =
  'is|are|ist|lautet|est|es|e|è|é|er|är|to|je|jest|on|is het|este|adalah|ialah|là|van|as|als|como|comme';
/** The number at once, behind a colon, or behind a verb; words before these may say whose code it is. */
const behindWord = new RegExp(
  `^["'»”)]?(?<between>(?: [\\p{L}\\d@.,+'’-]{1,16}){0,6}?)(?<join>[ ]?[:=]|['’]s|(?: (?:${joins}))?:?)[ ]{0,2}[<"'\`[(*]{0,2}(?<number>${number})(?![\\w-]|[.,:]\\d)`,
  'iu',
);
/** The next line answers: `What's the code for the back door?`, `Bob: 9137`. */
const answered = new RegExp(
  `^(?<between>(?: [\\p{L}\\d.'’-]{1,16}){0,6}) ?[?][)"'”»]{0,2}(?:[ ]?\\r?\\n|\\\\n){1,2}${speaker}(?:[\\p{L}'’]{1,8}[,:]? ){0,2}(?<number>${number}|\\d{2,3} \\d{2,3})(?![\\w-]|[.,:]\\d)`,
  'iu',
);
const beforeWord = new RegExp(
  `(?:^|[\\s"'(<*])(?<number>${number})["')>*]{0,2} (?:${joins}) (?:[\\p{L}-]{1,16} ){1,4}\\p{L}{0,12}$`,
  'iu',
);

/** Whether a text has one of the words. Built on the first call. */
function anyOf(...words: string[]): (text: string) => boolean {
  let built: RegExp | undefined;
  return (text) => {
    built ??= new RegExp(words.join('|'), 'i');
    return built.test(text);
  };
}

/** What only one-time codes are for. Words around count too, if the number has six digits, as most one-time codes and few others. */
const strongPurposes =
  '\\b(?:texted|sent|e?mailed) (?:to )?(?:me|us|you|my)\\b|verif|confirm|conferm|best[äa]t|tigung|sms\\b|2fa|mfa|\\bfactor|einmal|one-?time|unlock|do[ğg]rula|onay|weryfik|potvr|ov[ěe][řr]|potwier|godkend|bekr[äæ]ft|vahvist|ellen[őo]rz|x[áa]c (?:thực|minh)|otp|verifik';
/** What events have in their names as well (`login failed, code 18456`): they must be of the phrase that the word for a code is in. */
const saysWhatFor = anyOf(
  strongPurposes,
  '(?<!in)valid[aei]|secur|segur|sicher|sigur|s[äa]kerhe|sikkerh|acces|acc[èe]s|dost[ęe]p|zugang|toegang',
  'login|log(?:ging)? ?in|log-in|sign-?in|connexion|anmeld|inlog|logow|auth(?!or\\b|ority)|autent',
  'activ|aktiv|aktyw|attiv|unlock|manager|operator|alarm|garage',
  '\\b(?:doors?|gate|lock|safe|ovi|oven|oveen|port(?:a|e|ail|ão))\\b|\\bt[üu]r|puerta|tresor|coffre',
);
const isForCodes = anyOf(strongPurposes);
const saysWhose =
  /(?:^|[^\p{L}])(?:your|my|ihre?|deine?|meine?|votre|ton|mon|tu|su|mi|tuo|suo|mio|seu|sua|teu|meu|tw[óo]j|m[óo]j|v[áa][šs]|tv[ůu]j|din|ditt|ditt|sinun|jouw|uw|jullie|sizin|codul t[ăa]u|anda|của bạn)(?:[^\p{L}]|$)/iu;
/** Codes of errors, answers, places and goods, in the languages that the words for a code are of. */
const isOther = anyOf(
  'err|exit|status|http|return|respon|reason|result|signal|fout|fehl|feil|fel(?:kod)?\\b|virhe|hiba|hata|kesalahan|galat|chyb|b[łl][ęe]d|eroare',
  'zip|post|po[čcšs]t|pocz|kode pos|irányító|country|area|region|langu|currency|gender',
  "retour|sortie|sal[ií]da|sa[íi]da|uscita|ritorno|retorno|(?:di|de) (?:stato|e?stado)|d[’']état|rückgabe|antwort|afsluit",
  'wyj[śs]|powrot|zako[ńn]cz|odpowied|návrat|ukončen|keluar|çıkış|durum|ieșire',
  'prod|colou?r|item|order|discount|promo|coupon|rabat|gutschein|refer|cost|vat|hs |fiscal|ürün|müşteri|customer|client|employee',
  'source|\\bbar|\\bqr|\\blines?\\b|char|key ?code|block|version|batch|lot|track|depart|dress|course|sort|swift|bank|tax',
);
/** What saysWhatHappened to a connection, a program or a request, for which a code is the reason. */
const saysWhatHappened = anyOf(
  'close \n|closed|closing|closure|disconn|fail|den(?:ied|ies)|reject|refus|declin|lost\\b|terminat|abnormal|abort|crash|\\bkill',
  "timed? ?out|finished|\\bended|undeliver|unable|cannot|(?:could|can|did|was|is|does) ?n['o’]t|offline|threw|\\bgot\\b|gave|replied|trigger",
  'getrennt|beendet|abgelehnt|ung[üu]ltig|verbroken|mislukt|nieuda|st[äa]ngd|misslyck|mislykk',
  'ferm[ée]e|perdue?|[ée]chou|chec\\b|cerrad|perdid|fall[óo]|rechaz|fechad|falh|rejeit|chius|pers[ao]\\b|fallit|rifiut',
  'ba[şs]ar[ıi]s[ıi]z|kapand|zamkni|odrzuc|utracon|selh|gagal|terputus',
);
/** `your job ended with code 1200`: it is not the code that is somebody's. */
const meansBy =
  /\b(?:with|mit|avec|com|con|met|med|cu|dengan|ile)\b|\b(?:sends?|sent|sets?|reports?|reported|raised|shows?) $/i;
/** `your code is 1200 lines long` */
const isMeasure =
  /^\s(?:lines?|char\w*|bytes?|bits?|[kmg]i?b|loc|words?|files?|times|tokens?|calls|requests|users|rows|pages|tests|days|errors?|warnings?|lignes|zeilen|l[ií]neas|linhas|righe|m?s(?:ec\w*)?|items)\b/i;
/** Words that mean nothing but a one-time code. */
const isOnly = /^(?:otp|tan|kodunuz|passcode|securecode|[a-z]{4,}code|verif\w+)$/;

const mayBeCode = /\d{4}|\d{2,3}[- ]\d{2,3}|-\d{5}/;
/** The words of one phrase, at the end of a text: `your Instagram login `. */
const phraseEnd = /(?:[\p{L}\d'’&-]{1,20}(?:\.[\p{L}\d]{1,8})?[ ]){0,3}(?:[dl]['’])?$/u;

/** What is written where, around a word for a code. */
interface Place {
  /** The word means nothing but a one-time code. */
  isSpecial: boolean;
  /** The words before it without a sign between, and those up to the number, or from the number to it. */
  phrase: string;
  between: string;
  /** The whole line up to the word. */
  line: string;
  code: string;
}

/** How it is known that the number is a one-time code; undefined if it is not. */
function evidence({ isSpecial, phrase, between, line, code }: Place): 'kind' | 'owner' | undefined {
  const said = `${phrase}\n${between}`;
  if (isOther(said) || saysWhatHappened(said)) return undefined;
  if (isSpecial || saysWhatFor(between) || isForCodes(phrase)) return 'kind';
  if (saysWhatFor(/\S* ?$/.exec(phrase)![0])) return 'kind';
  if (saysWhose.test(said) && !meansBy.test(phrase)) return 'owner';
  const around = line.slice(-60);
  const isTold = code.length >= 6 && isForCodes(around) && !isOther(around);
  return isTold && !saysWhatHappened(around) ? 'kind' : undefined;
}

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
  const phrase = phraseEnd.exec(stop === 'digo' ? line.replace(/\S+$/, '') : line)![0];
  const behind = behindWord.exec(rest);
  if (behind?.groups) {
    const { between = '', join = '', number: code = '' } = behind.groups;
    const told = evidence({ isSpecial, phrase, between, line, code });
    // Without a sign or a verb, the number must follow at once, and its kind be said.
    const isJoined = join !== '' || (between === '' && told === 'kind');
    if (told && isJoined && !isMeasure.test(rest.slice(behind[0].length)))
      return found(text.indexOf(code, end + between.length + join.length), code);
  }
  const answer = rest.includes('?') ? answered.exec(rest) : undefined;
  if (answer?.groups) {
    const { between = '', number: code = '' } = answer.groups;
    if (evidence({ isSpecial, phrase, between, line, code }))
      return found(end + answer[0].length - code.length, code);
  }
  const first = beforeWord.exec(line)?.groups?.['number'];
  if (first === undefined) return undefined;
  const said = line.slice(line.lastIndexOf(first) + first.length);
  const place = { isSpecial, phrase: said, between: text.slice(end, end + 24), line, code: first };
  return evidence(place) && found(start - line.length + line.lastIndexOf(first), first);
}

const notSent = /\b(?:re-?)?(?:send|sent|deliver)\w*\b/i;

/** `Failed to send OTP: 4004`: why, not what. A code of six digits may be both, and `otp=4004` is the code. */
export function isCodeOfEvent({ text, units }: Page, { start, sign }: NamePlace, code: string): boolean {
  if (units[sign] !== 58 || !/^\d{3,5}$/.test(code)) return false;
  const before = /[^\n.;]*$/.exec(text.slice(Math.max(0, start - 60), start))![0];
  return notSent.test(before) && saysWhatHappened(before);
}

const found = (start: number, code: string): Finding => ({
  start,
  end: start + code.length,
  rule: 'one-time-code',
});

/** Words of other scripts for a one-time code. */
const onlyBefore =
  /(?:验证码|校验码|动态码|驗證碼|認証コード|確認コード|認証番号|ワンタイム|인증 ?번호|인증 ?코드|ओटीपी)[^\n\r\d<>{}=;]{0,40}$/i;
const onlyBehind =
  /^["'」】\]]?[ ]?(?:—|-|–|が|は|为您的|是您的)?[ ]?(?:[^\s\d]{1,12}[ ])?(?:验证码|校验码|驗證碼|認証コード|確認コード|인증번호)/i;
/** Those for any code, together with the phrase that they are in. */
const anyBefore = /[^,;:(،，、]{0,40}(?:код(?!е|ек)|رمز|קוד|कोड|รหัส|κωδικ)[^\n\r\d<>{}=;]{0,40}$/i;
const anyBehind = /^["'\]]?[ ]?(?:—|-|–|это|є|ваш)?[ ]?(?:[^\s\d]{1,12}[ ])?код/i;
/** Whose any code is, or what for. */
const saysPurposeNatively = anyOf(
  'ваш|тво[йяє]|твій|мой|мій|подтвер|підтвер|потвър|потврд|доступ|вход|вхід|смс|sms|otp|2fa|провер|перевір|одноразов|автори[зс]|активац',
  'никому|нікому|сообща|введ|двер|домофон|замк|сейф',
  'تحقق|الخاص|تأكيد|الدخول|المرور|تایید|تأیید|ورود|אימות|שלך|כניסה|גישה|חד.פעמי',
  'सत्यापन|आपका|ओटीपी|प्रवेश|लॉगिन|ยืนยัน|ของคุณ|เข้า|ผ่าน|ลับ|επαλήθευσ|επιβεβαίωσ|πρόσβασ|εισόδου|χρήσης|σας|σου',
);
/** Codes of errors, answers, places and goods, and what saysWhatHappened for which a code is the reason. */
const isOtherNative = anyOf(
  'ошиб|помил|греш|товар|продукт|почт|пошт|индекс|страны|регион|город|міста|возврат|поверн|верну|ответ|відпов|состоян|стан[уі]|статус|причин',
  'заверш|выход|вихід|виход|закры|разорв|прерв|обрыв|упал|отказ|відмов|запре|откл|відхил|заблок|не (?:уда|вы|про|дос|вда)',
  '错误|錯誤|商品|邮政|失败|失敗|长度|过期|エラー|終了|오류|실패|상품|우편|종료|상태',
  'خطأ|خروج|فشل|الحالة|البريد|المنتج|שגיאה|יציאה|חזרה|נכשל|מיקוד|סטטוס|מוצר|त्रुटि|निकास|विफल|पिन कोड|स्थिति',
  'ข้อผิดพลาด|ไปรษณีย์|สินค้า|สถานะ|พนักงาน|รหัสออก|ล้มเหลว|σφάλμα|ταχυδρομ|κατάστασ|επιστροφ|εξόδου|απέτυχ|απόκρισ|προϊόν',
);

/** Whether the number at [start, end), beside letters of no Latin script, is told to be a code. */
export function isNativeCode(text: string, start: number, end: number): boolean {
  const before = /[^\n\r.!?]*$/.exec(text.slice(Math.max(0, start - 60), start))![0];
  const behind = /^[^\n\r]*/.exec(text.slice(end, end + 40))![0];
  if (isOtherNative(before) || isOtherNative(/^[^,.;，。(]*/.exec(behind)![0])) return false;
  if (onlyBefore.test(before) || onlyBehind.test(behind)) return true;
  const phrase = anyBefore.exec(before)?.[0];
  if (phrase === undefined && !anyBehind.test(behind)) return false;
  // As in evidence(): words around count, if the number has six digits.
  return saysPurposeNatively((end - start < 6 ? (phrase ?? '') : before) + behind);
}
