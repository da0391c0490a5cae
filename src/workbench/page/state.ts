/** The state that the server put into this document. */
import type { ViewState } from '../protocol.ts';

export const state: ViewState = JSON.parse(document.getElementById('state')?.textContent ?? '{}');

/** An address below the token. */
export const addressOf = (path: string): string => state.base + path;
