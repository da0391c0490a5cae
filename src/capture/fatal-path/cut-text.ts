/** A text as the inspector's preview has it, without the halves of words: half a credential has no shape to be known by. */

const cutWords = /[^\s"'`,;{}()<>[\]]*…[^\s"'`,;{}()<>[\]]*/g;
/** V8's inspector cuts what is longer, in the middle or at the end (value-mirror.cc, maxLength). */
const previewChars = 100;

export function withoutCutWords(text: string): string {
  return text.length < previewChars ? text : text.replace(cutWords, '…');
}
