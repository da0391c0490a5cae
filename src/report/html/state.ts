/** The state of the open page: the account, the theme, what is unfolded, what the address points to. */
import { signal } from '@preact/signals';
import type { Account } from '../../model/account.ts';

export type Theme = 'system' | 'light' | 'dark';

export const account: Account = JSON.parse(document.getElementById('account')?.textContent ?? '{"gaps":[]}');

export const theme = signal<Theme>('system');
/** Id of the element in the address. */
export const target = signal(targetOfAddress());
/** What the reader unfolded or folded, by id. */
export const unfolded = signal<ReadonlyMap<string, boolean>>(new Map());
export const isPrinting = signal(false);
export const isHelpShown = signal(false);

function targetOfAddress(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

export function watchSurroundings(): void {
  addEventListener('hashchange', () => goTo(targetOfAddress()));
  addEventListener('beforeprint', () => {
    isPrinting.value = true;
  });
  addEventListener('afterprint', () => {
    isPrinting.value = false;
  });
  // A program that sets print media may print a page without the event.
  const media = matchMedia('print');
  isPrinting.value = media.matches;
  media.addEventListener('change', () => {
    isPrinting.value = media.matches;
  });
}

/** `onPaper`: the result for printing, where nothing can be unfolded. */
export function isUnfolded(id: string, byDefault = false, onPaper = true): boolean {
  return (isPrinting.value && onPaper) || (unfolded.value.get(id) ?? byDefault);
}

export function unfold(id: string, isOpen: boolean): void {
  unfolded.value = new Map(unfolded.value).set(id, isOpen);
}

/** Unfolds the element with this id, and scrolls to it once it is rendered; lists that are cut show as much as needed. */
export function goTo(id: string): void {
  if (id === '') return;
  unfold(id, true);
  target.value = id;
  if (targetOfAddress() !== id) history.replaceState(null, '', `#${encodeURIComponent(id)}`);
  requestAnimationFrame(() => requestAnimationFrame(() => showElement(id)));
}

function foldAround(element: Element): HTMLDetailsElement | null {
  return element.parentElement?.closest('details') ?? null;
}

function showElement(id: string): void {
  const element = document.getElementById(id);
  if (!element) return;
  for (let fold = foldAround(element); fold; fold = foldAround(fold)) fold.open = true;
  const isSection = element.tagName === 'SECTION';
  element.scrollIntoView({ block: isSection ? 'start' : 'center' });
  if (isSection) return;
  const focusable = element.matches('[data-item]')
    ? element
    : element.querySelector<HTMLElement>('[data-item]');
  (focusable as HTMLElement | null)?.focus({ preventScroll: true });
}

export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
}
