/** A store that dies for a run before or after its n-th record: all that is left is what the record holds. */

import type { DurableStore, RunHandle } from '../../src/durable/stores/store.ts';
import { AgentdumpError } from '../../src/errors.ts';

/** `where`: the record that dies is not kept (before), or is (after). */
export function crashingStore(store: DurableStore, at: number, where: 'before' | 'after'): DurableStore {
  const crash = () => new AgentdumpError('unwritable', 'the process died here', { reason: 'test' });
  let count = 0;
  const wrap = (handle: RunHandle): RunHandle => ({
    epoch: handle.epoch,
    records: handle.records,
    notes: handle.notes,
    append: (kind, payload, sync) => {
      count++;
      if (count > at || (count === at && where === 'before')) throw crash();
      const added = handle.append(kind, payload, sync);
      if (count < at) return added;
      throw crash();
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
