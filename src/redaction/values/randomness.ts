/** Whether a text was drawn by a machine or written by a person. All checks are linear in a value of bounded length. */

/** Shannon entropy in bits a character, over code units below 128; others count as one class. */
function entropyOf(text: string): number {
  const counts = new Uint16Array(128);
  for (let i = 0; i < text.length; i++) counts[text.charCodeAt(i) & 127]! += 1;
  let bits = 0;
  for (const count of counts) if (count) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** A part between separators that reads as a word, a short number, or a word with a number. */
const readable = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d{1,8}|[A-Za-z]{2,}\d{1,4}|\d{1,3}[a-z]{1,2}|v\d+|[a-z]\d{1,2})$/;

export function isReadable(part: string): boolean {
  if (readable.test(part)) return part.length < 24 || entropyOf(part) < 3.2;
  if ((part.match(/\d+/g) ?? []).length > 2) return false;
  if (part.length > 10 && isDrawnLetters(part.replace(/\d+/g, ''))) return false;
  return part
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]{2,})([A-Z][a-z]{2})/g, '$1 $2')
    .split(' ')
    .every(
      (word) =>
        readable.test(word) &&
        (word.length > 2 || part.length < 8 || /^(?:A[Ii]|I[DdOoPp]|U[Ii]|D[Bb]|J[Ss])$/.test(word)) &&
        isPronounceable(word),
    );
}

/** Of ten letters in a row, two are vowels in every language that writes them. */
const isPronounceable = (word: string): boolean =>
  word.length < 10 || (word.match(/[aeiouy]/gi) ?? []).length * 5 >= word.length;

/** Letters in both cases that are no words joined: single capitals, and syllables without a vowel. */
export function isDrawnLetters(text: string): boolean {
  if (text.length < 8 || !/[a-z]/.test(text) || !/[A-Z]/.test(text)) return false;
  const odd = (text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).filter(
    (part) => !shortForms.test(part) && (part.length === 1 || !isSyllable(part)),
  );
  return odd.length >= 2 || /(?!ngths)[bcdfghjklmnpqrstvwxz]{5}/.test(text);
}

/** A vowel, and before it what words of English and its neighbours begin with. */
const isSyllable = (part: string): boolean =>
  part.toUpperCase() === part
    ? part.length < 4 || /[AEIOU]/.test(part)
    : /^(?:[^aeiouy]|[bcdfgkpstvw][lrhjwv]|s[ckmnptqu]|s[cpt][rlh]|sch|str|kn|ps|gn|ts|tw|qu|mc)?[aeiouy]/i.test(
        part,
      );

/** Without a vowel, yet in every program. */
const shortForms =
  /^(?:https?|html?|xml|css|json|ctx|cfg|str|tmp|msg|btn|src|dst|dest|pwd|mgr|svc|db|fs|ws|tx|rx|kv|js|ts|lbl|txt|cmd|hdr|ptr|fn|cb|id|px|mk\w*|rm\w*|std\w*|sdk|sql|ssl|tls|tcp|dns|http\w*|impl|ptr|prev|rng|pg|gql|grpc|mq)$/i;

/** No person would write it: letters mixed with digits, no words, enough of them. */
export function looksRandom(value: string, least = 16): boolean {
  if (value.length < least || value.length > 4096) return false;
  if (!/^[\w+/=.~:!@#$%^*-]+$/.test(value)) return false;
  const body = value.replace(/=+$/, '');
  if (!/\d/.test(body) || !/[A-Za-z]/.test(body))
    return /^[A-Za-z+/_-]{24,}$/.test(body) && isMixedNonsense(body);
  const parts = body.split(/[-_./:+=~]/).filter((part) => part !== '');
  if (parts.every(isReadable)) return false;
  return entropyOf(body) >= (body.length >= 20 ? 2.9 : 2.5);
}

/** Letters only, yet no language: the case changes at every turn. */
function isMixedNonsense(body: string): boolean {
  const parts = body.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  return parts.length >= 6 && body.length / parts.length < 3.6 && entropyOf(body) > 3.6;
}

/** One of its parts between separators has `least` characters and is random. */
export function hasRandomPart(value: string, least: number): boolean {
  return value.split(/[-_\s./:=]/).some((part) => part.length >= least && looksRandom(part, least));
}

export const hasLongRandomPart = (value: string): boolean => hasRandomPart(value, 16);
