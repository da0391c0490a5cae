/** The second thread of second-thread.ts. Results are handed over, not copied. */
import { parentPort, workerData } from 'node:worker_threads';
import { openShared, type SharedSnapshot } from '../../formats/heapsnapshot/index.ts';
import { computeClasses } from './classes.ts';
import { computeDistances } from './distances.ts';
import type { FacetsMessage } from './second-thread.ts';
import { computeShallowSizes } from './shallow-sizes.ts';

const snapshot = openShared((workerData as { shared: SharedSnapshot }).shared);
const room = new Uint32Array(snapshot.nodes.count);
const classes = computeClasses(snapshot, room);
const distances = computeDistances(snapshot, room);
const selfSize = computeShallowSizes(snapshot, room);
snapshot.close();
const message: FacetsMessage = {
  distances,
  classes,
  sizes: selfSize.narrow,
  wideSizes: [...selfSize.wideRows()],
};
const own = [distances.buffer, classes.of.buffer, selfSize.narrow.buffer];
parentPort?.postMessage(
  message,
  own.filter((buffer): buffer is ArrayBuffer => buffer instanceof ArrayBuffer),
);
