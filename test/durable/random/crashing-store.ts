/** A store that makes a run die before or after its n-th record: nothing is left but what is recorded. */

import type { DurableStore, RunHandle } from '../../../src/durable/stores/store.ts';
import { AgentdumpError } from '../../../src/errors.ts';

const message = 'the process died here';

/** Whether that is how a run ended. */
export function isCrash(error: unknown): boolean {
  return error instanceof Error && error.message === message;
}

const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * `where`: whether the fatal record is lost (before) or kept (after). `isSlow`: a record is stored one turn of the event loop
 * later, as over a network.
 */
export function crashingStore(
  store: DurableStore,
  at: number,
  where: 'before' | 'after',
  isSlow = false,
): DurableStore {
  const crash = () => new AgentdumpError('unwritable', message, { reason: 'test' });
  let count = 0;
  const wrap = (handle: RunHandle): RunHandle => ({
    epoch: handle.epoch,
    records: handle.records,
    notes: handle.notes,
    ...(handle.isOpened !== undefined && { isOpened: handle.isOpened }),
    ...(handle.mark && { mark: () => handle.mark!() }),
    append: (kind, payload, sync) => {
      const nth = ++count;
      const add = () => {
        if (nth > at || (nth === at && where === 'before')) throw crash();
        const added = handle.append(kind, payload, sync);
        if (nth < at) return added;
        throw crash();
      };
      return isSlow ? turnOfTheLoop().then(add) : add();
    },
    release: (rest) => handle.release(rest),
  });
  return {
    place: store.place,
    open: (id, title) => {
      const handle = store.open(id, title);
      return handle instanceof Promise ? handle.then(wrap) : wrap(handle);
    },
    read: (id) => store.read(id),
    list: () => store.list(),
    answer: (id, path, payload) => store.answer(id, path, payload),
    findAnswer: (id, path) => store.findAnswer(id, path),
    ...(store.enqueue && { enqueue: (...given) => store.enqueue!(...given) }),
    ...(store.takeQueued && {
      takeQueued: async (wish) => {
        const { runs, ...further } = await store.takeQueued!(wish);
        return {
          ...further,
          runs: runs.map((run) => (run.handle ? { ...run, handle: wrap(run.handle) } : run)),
        };
      },
    }),
    ...(store.findDue && { findDue: (names, most) => store.findDue!(names, most) }),
    ...(store.rest && { rest: (id, rest) => store.rest!(id, rest) }),
    ...(store.watch && { watch: (tell) => store.watch!(tell) }),
    close: () => store.close(),
  };
}
