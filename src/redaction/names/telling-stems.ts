/**
 * Three letters of each word that tells of a secret: nearly all names hold none of them and are turned away by a table, before
 * they are cut into words.
 */

let table: Int32Array | undefined;

/** By the low five bits of three letters, which are the same in both cases: a bit where they stand in a word that judgeName knows. */
function stemTable(): Int32Array {
  if (table) return table;
  table = new Int32Array(1 << 10);
  for (const stem of telling.split(' ')) {
    const [a = 0, b = 0, c = 0] = [...stem].map((letter) => letter.charCodeAt(0) & 31);
    const bits = (a << 10) | (b << 5) | c;
    table[bits >>> 5]! |= 1 << (bits & 31);
  }
  return table;
}

/** The rarest three letters of every telling word; a test holds this against the vocabulary. */
const telling =
  'pas pwd pwo ras enh cre tok jwt pat bea key aut oau csr xsr sas coo ses sig cod pin otp mfa cvv cvc ' +
  'mne see phr nam hea var fie ara aro rty val str sid dsn hma psk dat ken adg wac hes asl sal loz jel los ' +
  'sif geh seg sek jet pep kek dek lav sse idt new old typ hav p12 pfx api wif lab eme puk sel';

/** The two letters of the one telling word that is too short for the table. */
const pw = (16 << 5) | 23;

/** Of the name at [start, end), three units at least: false where no telling word is in it. */
export function holdsStem(units: Uint16Array, start: number, end: number): boolean {
  const stems = stemTable();
  let bits = 0;
  for (let i = start; i < end; i++) {
    bits = ((bits << 5) | (units[i]! & 31)) & 0x7fff;
    if ((stems[bits >>> 5]! >>> (bits & 31)) & 1) return true;
  }
  return (bits & 0x3ff) === pw;
}

/**
 * As holdsStem for a name that is no part of a page, or a word of one. judgeName reads words that stand together as one (`o-t-p`), so
 * what is no letter and no digit is passed over here. Names of three letters and fewer are not asked about.
 */
export function mayHoldStem(name: string): boolean {
  const stems = stemTable();
  let bits = 0;
  let letters = 0;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    // Some become an ASCII letter in lower case.
    if (unit > 127) return true;
    const letter = unit | 32;
    if ((letter < 97 || letter > 122) && (unit < 48 || unit > 57)) continue;
    letters += 1;
    bits = ((bits << 5) | (unit & 31)) & 0x7fff;
    if ((stems[bits >>> 5]! >>> (bits & 31)) & 1 || (bits & 0x3ff) === pw) return true;
  }
  return letters <= 3;
}
