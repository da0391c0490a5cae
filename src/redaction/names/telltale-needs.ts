/**
 * What the detectors of a telltale word ask for first, for the words that are common in programs and in speech: without it
 * they find nothing, and the kernel's walk does not stop. A word that is not listed needs nothing.
 */

/** One of them is enough. Bits; walk-needs.as.ts reads them. */
export const need = {
  /** A digit, or a capital within a word, in the rest of the line: the value must be random or chosen. */
  odd: 1,
  /** `root / x` */
  slash: 2,
  /** `entry 'x'` */
  quoted: 4,
  /** `"columns": [` */
  list: 8,
  /** A line of a jar of cookies: a tab and a path behind the word. */
  jar: 16,
  /** `VALUES (` */
  row: 32,
  /** `params = [`, `args: {` */
  opening: 64,
  /** A digit, or a word for a kind of code, in the line before. */
  kind: 128,
  /** `identified by`, `identified with x by` */
  identified: 256,
  /** `config set`, `set -x` */
  setter: 512,
  /** `log in as` */
  into: 1024,
  /** `user kim using x` */
  user: 2048,
  /** `http -a kim:x`, `--auth` */
  flag: 4096,
  /** Three digits in a row near, as codes have. */
  number: 8192,
  /** A word for a kind of code in the line before, and a digit behind. */
  coded: 16384,
  /** It is not a word in the middle of a sentence: `must pass the tests`. */
  lone: 32768,
  /** As `odd`, in a word of at least eight characters. */
  drawn: 65536,
} as const;

interface Needed {
  words: string;
  needs?: number;
  /** A blank, and before it a word that ends with one of these letters. */
  behind?: string;
}

const needed: Needed[] = [
  { words: 'token apikey basic negotiate digest ssws splunk', needs: need.drawn },
  { words: 'secret plain', needs: need.odd },
  { words: 'code', needs: need.number | need.coded },
  { words: 'pass', needs: need.odd | need.kind | need.lone },
  { words: 'codes key', needs: need.odd | need.kind },
  // Numbers follow them, or go before.
  { words: 'ssn security', needs: need.odd },
  { words: 'pin otp totp', needs: need.odd | need.kind },
  // Of statements whose value must look chosen.
  { words: 'send su sudo docker podman gh gpg openssl unlock register', needs: need.odd },
  { words: 'using', needs: need.user },
  { words: 'http https', needs: need.flag },
  { words: 'put', behind: 'sv' },
  { words: 'root admin administrator demo guest tester testuser', needs: need.slash },
  { words: 'entry', needs: need.quoted },
  { words: 'columns headers fields', needs: need.list },
  { words: 'true false', needs: need.jar },
  { words: 'values', needs: need.row },
  { words: 'bind bindings binds parameters params args', needs: need.opening },
  { words: 'by', needs: need.identified },
  { words: 'set', needs: need.setter },
  { words: 'log sign logging signing', needs: need.into },
  { words: 'use', behind: 't' },
  { words: 'config', behind: 'tr' },
  // `pass show`, `op read`, `keyring get`, `vault …`, `kubectl get`, `secretsmanager get`, `versions access`
  { words: 'show read get access', behind: 'spgytovlr' },
];

/** Of each word that needs something: an index into `needRows`, where 0 is for one that needs nothing. */
export function rowsByWord(): Map<string, number> {
  const rows = new Map<string, number>();
  // The first row with a word counts.
  for (let at = needed.length - 1; at >= 0; at--)
    for (const word of needed[at]!.words.split(' ')) rows.set(word, at + 1);
  return rows;
}

/** Two numbers a row: a bit for each letter that may stand before the word, or 0 for any, and what else it needs. */
export function needRows(): Int32Array {
  const lettersOf = (behind: string): number =>
    [...behind].reduce((bits, letter) => bits | (1 << (letter.charCodeAt(0) & 31)), 0);
  return Int32Array.from([
    ...[0, 0],
    ...needed.flatMap(({ needs = 0, behind = '' }) => [lettersOf(behind), needs]),
  ]);
}
