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

const actions: Record<string, () => void> = {
  '/': focusSearch,
  j: () => step(1),
  k: () => step(-1),
  t: nextTheme,
  '?': () => {
    isHelpShown.value = !isHelpShown.value;
  },
};

export function installKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const action = actions[event.key] ?? sectionAction(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function nextTheme(): void {
  setTheme(({ system: 'dark', dark: 'light', light: 'system' } as const)[theme.value]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select');

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('#search')?.focus();
}

function sectionAction(key: string): (() => void) | undefined {
  if (!/^[1-9]$/.test(key)) return undefined;
  const section = document.querySelectorAll('main > section[id]')[Number(key) - 1];
  return section && (() => goTo(section.id));
}

/** From the focused item, or else from the first that is in sight. */
function step(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>('main [data-item]')].filter(
    (item) => item.offsetParent,
  );
  const at = items.indexOf(document.activeElement as HTMLElement);
  const inSight = items.findIndex((item) => item.getBoundingClientRect().top > 60);
  const next = items[at >= 0 ? at + by : inSight];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}
