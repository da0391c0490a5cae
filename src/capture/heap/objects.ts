/**
 * How many objects the heap holds, exactly, and for a tenth of what a snapshot of it costs. V8 gives each object that
 * it tracks the next free id, two apart (HeapObjectsMap in its heap-snapshot-generator): an object that is made after the
 * first look gets at the second look an id that counts all the others. Some 100 bytes an object until the session ends,
 * with which V8 also forgets the ids: not for a program that compares its own snapshots, so only asked where it decides.
 */
import type { Session } from 'node:inspector';

const idsApart = 2;
const group = 'agentdump';

/** Undefined when this Node has no inspector, or a V8 that numbers in some other way. */
export function countHeapObjects(): number | undefined {
  try {
    const { Session } = process.getBuiltinModule('node:inspector');
    const session = new Session();
    session.connect();
    try {
      return countIn(session);
    } finally {
      session.disconnect();
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
