/** The state that the server embedded in this document. */
import type { ViewState } from '../protocol.ts';

export const state: ViewState = JSON.parse(document.getElementById('state')?.textContent ?? '{}');

/** A URL below the token. */
export const addressOf = (path: string): string => state.base + path;
