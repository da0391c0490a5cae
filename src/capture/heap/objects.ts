/**
 * Counts the objects in the heap, exactly, at a tenth of the cost of a snapshot. V8 gives each object that it tracks the next
 * free id, two apart (HeapObjectsMap in its heap-snapshot-generator): an object that is created after the first look gets an
 * id at the second look that counts all the others. Costs about 100 bytes per object until the session ends, when V8 also
 * discards the ids. This would disturb a program that compares its own snapshots, so it is only used if the result decides
 * something.
 */
import type { Session } from 'node:inspector';
import { toUndo } from '../host/undo.ts';

const idsApart = 2;
const group = 'agentdump';

/** Undefined if this Node has no inspector, or its V8 assigns ids differently. */
export function countHeapObjects(): number | undefined {
  try {
    const { Session } = process.getBuiltinModule('node:inspector');
    const session = new Session();
    session.connect();
    const close = toUndo(() => session.disconnect());
    try {
      return countIn(session);
    } finally {
      close();
    }
  } catch {
    return undefined;
  }
}

function countIn(session: Session): number | undefined {
  let id = 0;
  const look = (): void => session.post('HeapProfiler.startTrackingHeapObjects', { trackAllocations: false });
  look();
  session.post('Runtime.evaluate', { expression: '({})', objectGroup: group }, (error, made) => {
    const objectId = made?.result.objectId;
    if (error || objectId === undefined) return;
    look();
    session.post('HeapProfiler.getHeapObjectId', { objectId }, (failure, answer) => {
      if (!failure) id = Number(answer.heapSnapshotObjectId);
    });
  });
  session.post('Runtime.releaseObjectGroup', { objectGroup: group });
  return id > 0 ? Math.floor(id / idsApart) : undefined;
}
