/** The place of the calling code (`Place` of scoped-run.ts), known by its async context. */
import { AsyncLocalStorage } from 'node:async_hooks';

export const callingPlace = new AsyncLocalStorage<{ readonly scoped: { readonly run: object } }>();
