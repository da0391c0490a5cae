/** A store that this process opens itself: its index and its blobs. */
import type { FleetStore } from './fleet-store.ts';
import { findStoredDeath } from './index/add-death.ts';
import { decide, listIssues, showIssue } from './issues.ts';
import type { Store } from './open-store.ts';

/** What only some commands need is imported when they ask for it. */
export function localStore(store: Store): FleetStore {
  return {
    place: store.index.place,
    async send(paths, options) {
      const { sendBundles } = await import('./sending/send.ts');
      return sendBundles(store, paths, options);
    },
    async countStarts(starts) {
      const { addStarts } = await import('./index/starts.ts');
      return addStarts(store.index, starts);
    },
    async settle(sent, note) {
      const { settleStore } = await import('./sending/settle.ts');
      return settleStore(store, sent, note);
    },
    list: (options) => listIssues(store, options),
    async countOutdated() {
      const { countOutdated } = await import('./grouping/reprocess.ts');
      return countOutdated(store.index);
    },
    show: (id, options) => showIssue(store, id, options),
    decide: (decision) => decide(store.index, decision),
    async reprocess(options) {
      const { reprocess } = await import('./grouping/reprocess.ts');
      return reprocess(store, options);
    },
    async fetch(bundle, output) {
      const { fetchBundle } = await import('./fetch-bundle.ts');
      return fetchBundle(store, bundle, output);
    },
    async find(bundle) {
      const known = await findStoredDeath(store.index, bundle);
      if (!known) return undefined;
      const { blob, issue, at } = known;
      return { path: await store.blobs.read(blob), name: blob, issue, at };
    },
    close: () => store.close(),
  };
}
