/** The current view of the heap as the query of the URL, so that back, forward and links work. */
import { computed, signal } from '@preact/signals';

export type Words = Readonly<Record<string, string>>;

export const place = signal<Words>(wordsOfAddress());

function wordsOfAddress(): Words {
  return Object.fromEntries(new URLSearchParams(location.search));
}

export function hrefTo(words: Words): string {
  return `?${new URLSearchParams(words)}`;
}

export function go(words: Words): void {
  history.pushState(null, '', hrefTo(words));
  place.value = words;
  scrollTo(0, 0);
}

/** Changes the view without adding a history entry. */
export function adjust(words: Words): void {
  history.replaceState(null, '', hrefTo(words));
  place.value = words;
}

/** Our links are followed within the document, unless they are opened elsewhere. */
export function watchPlace(): void {
  addEventListener('popstate', () => {
    place.value = wordsOfAddress();
  });
  addEventListener('click', (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.('a[href]');
    const href = link?.getAttribute('href') ?? '';
    if (!href.startsWith('?')) return;
    event.preventDefault();
    go(Object.fromEntries(new URLSearchParams(href)));
  });
}

/** What is shown as a tree. By itself, so that what depends on it is not drawn again with each change of the place. */
export const treeWord = computed(() => place.value['tree']);

/** From object to object, what is shown as a tree stays one. */
export const toObject = (id: number): string => {
  const tree = treeWord.value;
  return hrefTo({ view: 'object', id: String(id), ...(tree !== undefined && { tree }) });
};
export const toClass = (kind: number): string => hrefTo({ view: 'objects', class: String(kind) });
export const toTiles = (id: number): string => hrefTo({ view: 'treemap', id: String(id) });
