/** The keyboard: in an account as in the page that is sent to others; elsewhere the same keys over rows and fields. */
import { accountKeys, type KeyActions, listenForKeys, sharedKeys, step } from '../../report/html/keys.ts';
import { state } from './state.ts';

export const keyTable: readonly [key: string, what: string][] = [
  ['/', 'filter'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'choose the row, to compare two'],
  ['c', 'compare the two that are chosen'],
  ['t', 'light, dark, or as the system says'],
  ['?', 'this help'],
  ['Esc', 'leave a field or this help'],
];

const deskKeys: KeyActions = {
  ...sharedKeys,
  j: () => step(1),
  k: () => step(-1),
  x: () => rowInFocus()?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click(),
  c: () => document.querySelector<HTMLAnchorElement>('a[data-compare]')?.click(),
};

export function installKeys(): void {
  listenForKeys(state.view === 'account' ? accountKeys : deskKeys);
}

const rowInFocus = (): HTMLElement | null => document.activeElement?.closest('tr') ?? null;
