/**
 * How languages tell a password: the word for it, what joins the word with the value, and what is said of a password instead
 * of telling it. One row a language; said-values.ts reads them all with one rule. English descriptions are in
 * values/plain-words.ts, because most logs are English.
 */

export interface Speech {
  /** Where the walk stops: ASCII words for a password, and the ASCII piece of one that has other letters too. */
  stops: string;
  /** Of a piece, the whole word in lower case. */
  spelled?: RegExp;
  /** Forms of the word that mean `the password of it`, and need nothing to join them. */
  joining?: RegExp;
  /** A word between it and the value. Signs and dashes join in every language. */
  joins: RegExp;
  /**
   * A word behind a joining one that is no password. Words with other letters are never taken for one; without this, no word
   * is.
   */
  describes?: RegExp;
}

/** Whatever ends like a participle or an adjective, or is one of these words. */
const describing = (endings: string, words: string): RegExp =>
  new RegExp(`^(?:[a-z]+(?:${endings})|${words})$`, 'i');

const romance = 'ad[ao]s?|id[ao]s?|t[ao]s?|ori[ao]|ente?|iv[ao]|bles?|ales?|antes?|os[ao]|ul[ao]|ar|ura';

const speeches: Speech[] = [
  {
    stops: 'password passwd passphrase passcode pwd pw pass',
    // Also behind the words of languages that borrow it.
    joins: /^(?:is|was|ist|lautet|è|é|est|este|es|är|ay|adalah)$/i,
  },
  {
    stops: 'kennwort kennworts passwort passworts losungswort zugangscode zugangsdaten',
    joins: /^(?:ist|lautet|war|heisst|wäre|bleibt)$/i,
    describes: describing(
      't|en|er|es|bar|lich|ig|isch|los|end|haft|sam|weg|voll',
      'falsch|zu|nicht|kein|leer|kurz|lang|stark|schwach|immer|noch|schon|jetzt|hier|pflicht|das|dein|mein',
    ),
  },
  {
    stops: 'wachtwoord wachtwoorden toegangscode wagwoord',
    joins: /^(?:is|was|luidt)$/i,
    describes: describing(
      'd|en|baar|lijk|ig|loos|t|te|st',
      'leeg|fout|juist|niet|kort|lang|sterk|zwak|nodig|hetzelfde|altijd|op|weg|opnieuw|onveilig',
    ),
  },
  {
    stops: 'contrase contrasenya contrasena clave claves digo',
    spelled: /^(?:contraseñas?|código)$/,
    joins: /^(?:es|era|será|son|fue)$/i,
    describes: describing(
      romance,
      'debil|fuerte|la|las|el|muy|una?|igual|misma|demasiado|de|que|tu|mi|su|siempre|solo',
    ),
  },
  {
    stops: 'senha senhas palavra-passe palavra-chave',
    joins: /^(?:é|era|será|eh)$/i,
    describes: describing(
      romance,
      'fraca|forte|curta|longa|muito|uma?|mesma|igual|de|que|sua|minha|sempre|apenas|nula|vazia',
    ),
  },
  {
    stops: 'passe mdp',
    joins: /^(?:est|c['’]est|sera|était|reste)$/i,
    describes: describing(
      `${romance}|eux|euse|oire|if|ive|er|ide|is|ise|ue?`,
      'trop|court|long|faible|fort|le|la|un|bien|pas|vide|mauvais|ton|votre|celui|dans|toujours|encore',
    ),
  },
  {
    stops: 'parola codice chiave parole',
    joins: /^(?:è|era|este|e|sarà|ir|on)$/i,
    describes: describing(
      `${romance}|oare|ata|uta`,
      'debole|troppo|la|il|una?|sempre|quella|vuota|breve|corta|prea|nu|foarte|gata',
    ),
  },
  {
    stops: 'passord passordet adgangskode adgangskoden kodeord kodeordet senord senordet lykilor',
    spelled: /^(?:lösenord|lösenordet|lykilorð|lykilorðið)$/,
    joins: /^(?:är|er|var)$/i,
    describes: describing(
      'et|at|t|ad|lig|bar|ig|ende|en|te',
      'for|fel|ikke|inte|ekki|tom|lang|samme|samma|det|nu|sterk|svag|svak|ugyldig|feil|rangt',
    ),
  },
  {
    stops: 'salasana salasanani salasanasi salasanamme tunnussana',
    joins: /^(?:on|oli|onkin)$/i,
    describes: describing(
      'nut|ttu|tu|va|ton|nen|ssa|lla|sti|lta|sta|lle|kas|si',
      'oikea|sama|liian|heikko|vahva|pakko|kunnossa',
    ),
  },
  {
    stops: 'haslo has heslo hesla geslo lozinka lozinke slapta',
    spelled: /^(?:hasł\p{L}{1,3}|slaptažod\p{L}{1,3})$/u,
    joins: /^(?:to|jest|brzmi|je|bylo|yra|zní|znie)$/i,
    describes: describing(
      'ne|te|we|ie|ony|one|sze|kie|ny|owe|lo|no|na|va|ta|ito|tu|ena|eno|ano',
      'za|nie|zbyt|co|ten|tylko|moje|twoje|prazdne|spatne|slabe|prekratka|ista|isto|uvek',
    ),
  },
  {
    stops: 'sandi sandinya katalaluan',
    joining: /nya$/,
    joins: /^(?:adalah|ialah|yaitu|nya)$/i,
    describes: describing(
      'kan|nya',
      'salah|wajib|harus|tidak|terlalu|sudah|baru|lama|kosong|benar|minimal|sama|untuk|yang|(?:di|ber|ter|me)[a-z]+',
    ),
  },
  {
    stops: 'kh',
    spelled: /^khẩu$/,
    joins: /^là$/i,
    describes: describing('ng|nh', 'sai|kho|duy|theo|cho'),
  },
  {
    stops: 'jelsz jelszava jelszavam',
    joining: /ava/,
    spelled: /^jelsz\p{L}{1,4}$/u,
    joins: /^(?:az|ez|lett)$/i,
    describes: describing('ott|ett|tt|os|es|en|an|len', 'nem|hibas|rossz|ures|kell|lesz'),
  },
  {
    stops: 'ifre ifresi ifremiz',
    joining: /si$|miz$/,
    spelled: /^şifre\p{L}{0,6}$/u,
    joins: /^(?:olarak|budur|şu)$/i,
    describes: describing('dir|ir|ur|ki|mi|di', 'yok|bu|yeni|eski|kolay'),
  },
];

/** In scripts whose letters are not ASCII: the stems of the words, before or behind which a value in ASCII stands out. */
const nativeStems =
  'парол|пасворд|лозинк|密码|密碼|口令|暗号|パスワード|暗証番号|合言葉|비밀번호|비번|암호|κωδικ|συνθηματικ|סיסמ|كلمة (?:ال)?(?:مرور|سر)|كلمه عبور|رمز عبور|पासवर्ड|कूटशब्द|গোপন শব্দ|পাসওয়ার্ড|கடவுச்சொல்|పాస్‌వర్డ్|รหัสผ่าน|รหัสลับ|գաղտնաբառ|პაროლ|mật khẩu|ססמ';

/** Who speaks, at the start of a line of a conversation: `— `, `> `, `Bob: `, `[09:12] bob: `, `<bob> `. */
export const speaker = String.raw`[ \t]{0,4}(?:\[[\d:. /-]{4,24}\] ?|\d{1,2}:\d\d(?::\d\d)? ?)?(?:[>—–-]{1,2} ?|<[^<>\s]{1,24}>:? ?|@?[\p{L}\d_.]{1,20}(?: [\p{L}\d_.]{1,20})?(?: \([^()\n]{1,20}\))?: ?)?`;

let joinsBySpeech: Map<Speech, RegExp> | undefined;

/** Finds what joins a word of the language with a value, in a text: a cheap test that most sentences fail. */
export function joinsIn(speech: Speech): RegExp {
  joinsBySpeech ??= new Map();
  let joins = joinsBySpeech.get(speech);
  if (!joins) {
    const words = speech.joins.source.slice(1, -1);
    const edge = '[\\s"\'`«»„“”‘「」()[\\],]';
    joins = new RegExp(`${edge}(?:${words}|[=—–-]|->|=>|→)${edge}|:${edge}`, 'i');
    joinsBySpeech.set(speech, joins);
  }
  return joins;
}

let byStop: Map<string, Speech> | undefined;

/** The language of a word at which the walk stopped, in lower case. */
export function speechOf(stop: string): Speech | undefined {
  byStop ??= new Map(speeches.flatMap((speech) => speech.stops.split(' ').map((word) => [word, speech])));
  return byStop.get(stop);
}

/** In the language of the word `stop`, `value` says something about a password. */
export const describesPassword = (stop: string, value: string): boolean =>
  speechOf(stop)?.describes?.test(value) ?? false;

/** Words that languages glue to another: `Rootpasswort`, `WLAN-Passwort`, `wifiwachtwoord`. */
const glued =
  /(?:passwort|kennwort|wachtwoord|senord|salasana|passord|adgangskode|kodeord|lozinka|parola|heslo)$/i;

/** The word for a password at the end of a longer one, in lower case. */
export const gluedWord = (word: string): string | undefined => glued.exec(word)?.[0].toLowerCase();

/** The longer word [start, end) has the last three letters of one. Most of the words that are stopped at have not. */
export function mayBeGlued(units: Uint16Array, start: number, end: number): boolean {
  if (end - start < 9) return false;
  const last = ((units[end - 3]! & 31) << 10) | ((units[end - 2]! & 31) << 5) | (units[end - 1]! & 31);
  return (
    last === ort ||
    last === ord ||
    last === ana ||
    last === ode ||
    last === nka ||
    last === ola ||
    last === slo
  );
}

const lettersOf = (first: number, second: number, third: number): number =>
  (first << 10) | (second << 5) | third;
const ort = lettersOf(15, 18, 20);
const ord = lettersOf(15, 18, 4);
const ana = lettersOf(1, 14, 1);
const ode = lettersOf(15, 4, 5);
const nka = lettersOf(14, 11, 1);
const ola = lettersOf(15, 12, 1);
const slo = lettersOf(19, 12, 15);

export const saidWords = (): string[] => speeches.flatMap(({ stops }) => stops.split(' '));

/** Stops that are pieces only: of a word whose next letter is not ASCII. */
export const pieceWords = 'has kh jelsz slapta lykilor';

/** Also of a word whose letter before is not ASCII. */
export const isPiece = (stop: string): boolean => stop === 'digo' || pieceWords.split(' ').includes(stop);

/** `改成了`, `重置为`: it was changed to what follows. */
const changedTo =
  '(?:已|被|给|給){0,2}(?:修?改|重?[设設]置?|重置|更新|更改|更换|换|換|变更|變更|設定)(?:成|为|為|到|至)了?';
const nativeJoins = `${changedTo}|это|є|е|是|为|為|は|が|を|は、|라고|는|은|이|هي|هو|היא|הוא|है|คือ|είναι|новый|新|नया`;
const joint = '[\\s:：—–「"\'«(,-]{0,4}';

interface NativeSpeech {
  /** The word for a password alone. */
  word: RegExp;
  /** Nothing but a joining word is between the word for a password and the value. */
  atOnce: RegExp;
  before: RegExp;
  behind: RegExp;
  /** What ends such a sentence behind the value. */
  ends: RegExp;
}

let native: NativeSpeech | undefined;

/** Patterns of the text before a value, and of the text behind it, that tell it is a password. */
export function nativeSpeech(): NativeSpeech {
  native ??= {
    word: new RegExp(nativeStems, 'i'),
    atOnce: new RegExp(
      `(?:${nativeStems})(?:(?!\\p{Script=Han})[\\p{L}\\p{M}]){0,5}${joint}(?:(?:${nativeJoins})${joint})?$`,
      'iu',
    ),
    before: new RegExp(`(?:${nativeStems})[^\\n\\r<>{}=;]{0,48}$`, 'i'),
    ends: /^["'`»”」』]?[ ]?(?:입니다|이에요|예요|이야|이다|야|임|(?:으)?로 (?:변경|설정|바[꾸꿨])|です|だよ?|に(?:変更|設定|しま)|है|था|เป็น)/,
    behind: new RegExp(`^["'\`»”」]?[ ]?(?:(?:—|-|–|это|це|є|е|が|は|هي|היא) ?){0,2}(?:${nativeStems})`, 'i'),
  };
  return native;
}
