/** Pictures, sounds and fonts in a `data:` URL: they hold no text, and base64 by the megabyte is slow to look at. */
import type { Page } from '../scan/page.ts';

const media = /:(?:image|audio|video|font)\/[\w.+-]{1,40}(?:;[\w=-]{1,40}){0,3};base64,/y;
const mediaBody = /[A-Za-z0-9+/]*={0,2}/y;

/** Where it ends; 0 where there is none. The page holds the colon of `data:`. */
export function skipMedia(page: Page, colon: number): number {
  media.lastIndex = colon;
  if (!media.test(page.text)) return 0;
  mediaBody.lastIndex = media.lastIndex;
  mediaBody.test(page.text);
  return mediaBody.lastIndex;
}
