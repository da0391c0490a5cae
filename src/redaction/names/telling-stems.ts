/**
 * Three letters of each sensitive word: nearly all names contain none of them and are rejected by a table, before they are
 * split into words.
 */

let stems: Int32Array | undefined;
let tells: Int32Array | undefined;
let kinds: Int32Array | undefined;

/** For the stems of sensitive words. */
export function stemTable(): Int32Array {
  stems ??= tableOf(telling);
  return stems;
}

/** For three letters of each word in a line that makes its table, or a word behind it, worth a closer look. */
export function tellTable(): Int32Array {
  tells ??= tableOf('pas pwd psw cre tok key ken wac ras enh lav asl hes adg lic otp loz jel');
  return tells;
}

/** For three letters of each word before `code` or `key` that says what kind it is. */
export function kindTable(): Int32Array {
  kinds ??= tableOf('rec bac scr eme one mfa res byp see mne wal sec tac rad');
  return kinds;
}

/** A bit for each of these, indexed by the low five bits of the three letters, which are the same in both cases. */
function tableOf(letters: string): Int32Array {
  const table = new Int32Array(1 << 10);
  for (const three of letters.split(' ')) {
    const [a = 0, b = 0, c = 0] = [...three].map((letter) => letter.charCodeAt(0) & 31);
    const bits = (a << 10) | (b << 5) | c;
    table[bits >>> 5]! |= 1 << (bits & 31);
  }
  return table;
}

/** The rarest three letters of every sensitive word; a test compares this with the vocabulary. */
const telling =
  'pas pwd psw pwo ras enh cre tok jwt pat bea key aut oau csr xsr sas coo ses sig cod pin otp mfa cvv cvc ' +
  'mne see phr nam hea var fie ara aro rty val str sid dsn hma psk dat ken adg wac hes asl sal loz jel los ' +
  'sif geh seg sek jet pep kek dek lav sse idt new old typ hav p12 pfx api wif lab eme puk sel ssn efr iva cry ' +
  'hal esl sir aml gwo cyf lal azo lyk fja ucz eut hlu san';

/** The two letters of the only sensitive word that is too short for the table. */
const pw = (16 << 5) | 23;

/** For the name at [start, end) of at least three units: false if it contains no sensitive word. */
export function holdsStem(units: Uint16Array, start: number, end: number): boolean {
  const table = stemTable();
  let bits = 0;
  for (let i = start; i < end; i++) {
    bits = ((bits << 5) | (units[i]! & 31)) & 0x7fff;
    if ((table[bits >>> 5]! >>> (bits & 31)) & 1) return true;
  }
  return (bits & 0x3ff) === pw;
}

/**
 * Like holdsStem, for a name that is not part of a page, or for a word of one. judgeName joins parts to one word (`o-t-p`),
 * so characters other than letters and digits are skipped. Always true for names of at most three letters.
 */
export function mayHoldStem(name: string): boolean {
  const table = stemTable();
  let bits = 0;
  let letters = 0;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    // Some of these become an ASCII letter in lower case.
    if (unit > 127) return true;
    const letter = unit | 32;
    if ((letter < 97 || letter > 122) && (unit < 48 || unit > 57)) continue;
    letters += 1;
    bits = ((bits << 5) | (unit & 31)) & 0x7fff;
    if ((table[bits >>> 5]! >>> (bits & 31)) & 1 || (bits & 0x3ff) === pw) return true;
  }
  return letters <= 3;
}
