/** The keyboard: in an account the keys of the static page; elsewhere the same keys for rows and fields. */
import { accountKeys, type KeyActions, listenForKeys, sharedKeys, step } from '../../report/html/keys.ts';
import type { ViewState } from '../protocol.ts';
import { heapViews } from './heap/heap.tsx';
import { go } from './heap/place.ts';
import { state } from './state.ts';

type KeyTable = readonly [key: string, what: string][];

const moving: KeyTable = [
  ['/', 'filter, or the query'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
];
const choosing: KeyTable = [
  ['x', 'choose the row, to compare it'],
  ['c', 'compare those that are chosen'],
];
const inHeap: KeyTable = [
  ['Home  End', 'first and last row, of however many'],
  ['1 … 8', 'go to a view'],
  ['p', 'pin the object, or unpin it'],
  ['→  ←', 'in a tree: open and close'],
  ['Alt ←', 'back to where you were'],
];
const inMemory: KeyTable = [
  ['/', 'go to an address'],
  ['j  k', 'next and previous address'],
  ['Enter', 'go there'],
  ['[  ]', 'a page back, a page on'],
  ['Alt ←', 'back to where you were'],
];
const always: KeyTable = [
  ['t', 'light, dark, or as the system says'],
  ['?', 'this help'],
  ['Esc', 'leave a field or this help'],
];

export const keysOfView = (): KeyTable => [
  ...(state.view === 'memory' ? inMemory : moving),
  ...(state.view === 'list' || state.view === 'issue' ? choosing : []),
  ...(state.view === 'heap' ? inHeap : []),
  ...always,
];

const deskKeys: KeyActions = {
  ...sharedKeys,
  j: () => step(1),
  k: () => step(-1),
  x: () => rowInFocus()?.querySelector<HTMLInputElement>('input[type="checkbox"]')?.click(),
  c: () => document.querySelector<HTMLAnchorElement>('a[data-compare]')?.click(),
};

const heapKeys: KeyActions = {
  ...deskKeys,
  p: () => document.querySelector<HTMLButtonElement>('[data-pin]')?.click(),
  ...Object.fromEntries(heapViews.map(({ view }, n) => [n + 1, () => go({ view })])),
};

const turn = (to: string) => () => document.querySelector<HTMLAnchorElement>(`a[data-page="${to}"]`)?.click();
const memoryKeys: KeyActions = { ...deskKeys, '[': turn('back'), ']': turn('on') };

const keysByView: Partial<Record<ViewState['view'], KeyActions>> = {
  account: accountKeys,
  heap: heapKeys,
  memory: memoryKeys,
};

export function installKeys(): void {
  listenForKeys(keysByView[state.view] ?? deskKeys);
}

const rowInFocus = (): HTMLElement | null => document.activeElement?.closest('tr') ?? null;
