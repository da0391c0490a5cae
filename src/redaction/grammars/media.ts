/** Skips images, sounds and fonts in a `data:` URL: they contain no text, and searching megabytes of base64 is slow. */
import type { Page } from '../scan/page.ts';

const media = /:(?:image|audio|video|font)\/[\w.+-]{1,40}(?:;[\w=-]{1,40}){0,3};base64,/y;
const mediaBody = /[A-Za-z0-9+/]*={0,2}/y;

/** The end of the media data, or 0 if there is none. The colon of `data:` is at `colon`. */
export function skipMedia(page: Page, colon: number): number {
  media.lastIndex = colon;
  if (!media.test(page.text)) return 0;
  mediaBody.lastIndex = media.lastIndex;
  mediaBody.test(page.text);
  return mediaBody.lastIndex;
}
