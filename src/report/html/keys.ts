/** The keyboard: every item that can be opened is one step of j and k, in the order of the page. */
import { goTo, isHelpShown, setTheme, theme } from './state.ts';

export const keyTable: readonly [key: string, what: string][] = [
  ['/', 'search'],
  ['j  k', 'next and previous item: frame, step, call, message'],
  ['Enter', 'open or close the item'],
  ['1 … 9', 'go to a section'],
  ['t', 'light, dark, or as the system says'],
  ['?', 'this help'],
  ['Esc', 'leave search or help'],
];

export type KeyActions = Readonly<Record<string, () => void>>;

/** Keys of every view, including those of a program that shows more than an account. */
export const sharedKeys: KeyActions = {
  '/': focusSearch,
  t: nextTheme,
  '?': () => {
    isHelpShown.value = !isHelpShown.value;
  },
};

const digits = Array.from({ length: 9 }, (_, n) => n + 1);

export const accountKeys: KeyActions = {
  ...sharedKeys,
  j: () => step(1),
  k: () => step(-1),
  ...Object.fromEntries(digits.map((digit) => [digit, () => goToSection(digit)])),
};

export function listenForKeys(actions: KeyActions): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function nextTheme(): void {
  setTheme(({ system: 'dark', dark: 'light', light: 'system' } as const)[theme.value]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea, select');

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('#search')?.focus();
}

function goToSection(number: number): void {
  const section = document.querySelectorAll('main > section[id]')[number - 1];
  if (section) goTo(section.id);
}

/** From the focused item, otherwise from the first visible one. */
export function step(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>('main [data-item]')].filter(
    // What a closed `details` holds has an offset parent, and takes no focus.
    (item) => item.offsetParent && item.checkVisibility?.() !== false,
  );
  const at = items.indexOf(document.activeElement as HTMLElement);
  const inSight = items.findIndex((item) => item.getBoundingClientRect().top > 60);
  const next = items[at >= 0 ? at + by : inSight];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}
