/**
 * Fills the texts of forms/ and look-alikes/ from a seed: placeholders like `%T` become the secret, and `[[b64:…]]` is written in
 * base64, which is then the secret, because a reader only has to decode it. Everything else is unchanged.
 */
import type { CorpusItem } from '../secrets/secret-corpus.ts';
import { fillTemplate, letters, type Random, SeededRandom } from '../synth/seeded-random.ts';

const words =
  'amber birch cedar delta ember flint grove hazel ivory jolly karma lemon mango north ocean pearl'.split(
    ' ',
  );
const plainPasswords =
  'sunflower hunter dragonfly bluebird trustme letmein qwertz starlight pumpkin mustang firebird cupcake'.split(
    ' ',
  );
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** The values of the placeholders. */
const signs: Record<string, (random: Random) => string> = {
  T: (r) => fillTemplate('{A32}', r),
  S: (r) => fillTemplate('{A16}', r),
  L: (r) => fillTemplate('{A50}', r),
  H: (r) => fillTemplate('{h32}', r),
  K: (r) => fillTemplate('{h64}', r),
  B: (r) => `${fillTemplate('{b42}', r)}A=`,
  W: (r) => fillTemplate('{w43}', r),
  U: (r) => fillTemplate('{h8}-{h4}-4{h3}-a{h3}-{h12}', r),
  N: (r) => fillTemplate('{d6}', r),
  O: (r) => fillTemplate('{U32}', r),
  G: (r) => fillTemplate('{U5}-{U5}-{U5}-{U5}', r),
  M: (r) => Array.from({ length: 12 }, () => r.pick(words)).join(' '),
  /** A typical password: a word with digits and a sign, or the output of a password generator. */
  P: (r) =>
    fillTemplate(
      r.pick([
        `${capital(r.pick(words))}{d4}!{a4}`,
        '{A16}',
        `{a4}-{A6}-{a4}`,
        `${r.pick(words)}_{d3}_${r.pick(words)}{d2}`,
        '{A8}#{A7}',
      ]),
      r,
    ),
  /** A word as a password: alone, with digits or a year, or two of them. */
  J: (r) =>
    fillTemplate(
      r.pick([
        r.pick(plainPasswords),
        `${r.pick(plainPasswords)}{d2}`,
        `${capital(r.pick(words))}${2016 + r.below(10)}`,
        `${capital(r.pick(words))}${capital(r.pick(words))}{d3}!`,
        `${r.pick(words)}-${r.pick(plainPasswords)}`,
      ]),
      r,
    ),
  /** A short token of an unknown issuer. */
  Y: (r) => fillTemplate(r.pick(['{a10}', '{a12}', '{A12}', '{h12}', '{A14}']), r),
  /** The output of a password generator that has to satisfy a policy. */
  Q: (r) =>
    fillTemplate(`{A5}${r.pick(['!', '#', '*', '_', '^'])}{A6}${r.pick(['.', '-', '_', '!'])}{a4}`, r),
  /** The prefix of a company that does not exist, and what it might append to it. */
  V: (r) =>
    fillTemplate(
      `${r.text(2 + r.below(4), 'bcdfghjklmnpqrstvwxz')}${r.pick(['_live_', '_pat_', '-', '_', '_sk_', '-api-', '.', '_key_'])}${r.pick(['{A36}', '{a40}', '{h40}', '{A28}', '{w43}', '{A22}'])}`,
      r,
    ),
};

/** Texts that must be kept, each filled `copies` times. */
export function makeUnseenLookAlikes(
  groups: Record<string, string[]>,
  seed: number,
  copies = 1,
): CorpusItem[] {
  return makeUnseen(groups, seed, copies).map((item) => ({ ...item, class: 'look-alike', secret: '' }));
}

/** The filled text of a form, and the secret in it. */
function fillForm(form: string, random: Random): { text: string; secret: string } {
  const drawn = new Map<string, string>();
  let secret = '';
  const draw = (_: string, sign: string): string => {
    const own = /^([AaUhdwbX])(\d+)$/.exec(sign);
    const value = own ? drawOwn(own[1]!, Number(own[2]), random) : signs[sign]!(random);
    if (value.length > secret.length) secret = value;
    drawn.set(value, value);
    return value;
  };
  const filled = form.replaceAll(/%([AaUhdwbX]\d+|[TSLHKBWUNOGMPQVJY](?![0-9A-F]))/g, draw);
  const text = filled.replaceAll(/\[\[b64:([^\]]*)\]\]/g, (_, inner: string) => {
    secret = Buffer.from(inner).toString('base64');
    return secret;
  });
  return { text, secret: secret.replace(/=+$/, '') };
}

function drawOwn(kind: string, length: number, random: Random): string {
  return random.text(
    length,
    kind === 'X' ? `${letters.H}GJKLMNPQRSTUVWXYZ` : letters[kind as keyof typeof letters],
  );
}

/** Each form with `copies` different values. */
export function makeUnseen(groups: Record<string, string[]>, seed: number, copies = 2): CorpusItem[] {
  const random = new SeededRandom(seed);
  return Object.entries(groups).flatMap(([group, forms]) =>
    forms.flatMap((form) =>
      Array.from({ length: copies }, (): CorpusItem => {
        const { text, secret } = fillForm(form, random);
        return { class: 'plain', label: `${group}: ${form}`, text, secret };
      }),
    ),
  );
}
