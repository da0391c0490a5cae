/** The second thread of second-thread.ts. Results are handed over, not copied. */
import { parentPort, workerData } from 'node:worker_threads';
import { openShared, type SharedSnapshot } from '../../formats/heapsnapshot/index.ts';
import { computeClasses } from './classes.ts';
import { computeDistances } from './distances.ts';
import type { Facets } from './second-thread.ts';
import { findOwnersOfParts } from './shallow-sizes.ts';

const snapshot = openShared((workerData as { shared: SharedSnapshot }).shared);
const room = new Uint32Array(snapshot.nodes.count);
const classes = computeClasses(snapshot, room);
const distances = computeDistances(snapshot, room);
const ownerOfPart = findOwnersOfParts(snapshot, room);
snapshot.close();
const facets: Facets = { distances, classes, ownerOfPart };
const own = [distances, classes.of, ownerOfPart].map((column) => column?.buffer);
parentPort?.postMessage(
  facets,
  own.filter((buffer): buffer is ArrayBuffer => buffer instanceof ArrayBuffer),
);
