/** A store that dies for a run before or after its n-th record: all that is left is what the record holds. */

import type { DurableStore, RunHandle } from '../../src/durable/stores/store.ts';
import { AgentdumpError } from '../../src/errors.ts';

const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * `where`: the record that dies is not kept (before), or is (after). `isSlow`: a record is kept a turn of the loop later, as in a
 * store that is asked over a wire.
 */
export function crashingStore(
  store: DurableStore,
  at: number,
  where: 'before' | 'after',
  isSlow = false,
): DurableStore {
  const crash = () => new AgentdumpError('unwritable', 'the process died here', { reason: 'test' });
  let count = 0;
  const wrap = (handle: RunHandle): RunHandle => ({
    epoch: handle.epoch,
    records: handle.records,
    notes: handle.notes,
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
    ...(store.findDue && { findDue: (names, most) => store.findDue!(names, most) }),
    ...(store.rest && { rest: (id, rest) => store.rest!(id, rest) }),
    ...(store.watch && { watch: (tell) => store.watch!(tell) }),
    close: () => store.close(),
  };
}
