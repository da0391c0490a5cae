/** A text from an inspector preview, without words that were cut: half a credential no longer matches any pattern. */

const cutWords = /[^\s"'`,;{}()<>[\]]*…[^\s"'`,;{}()<>[\]]*/g;
/** V8's inspector cuts longer texts, in the middle or at the end (value-mirror.cc, maxLength). */
const previewChars = 100;

export function withoutCutWords(text: string): string {
  return text.length < previewChars ? text : text.replace(cutWords, '…');
}
