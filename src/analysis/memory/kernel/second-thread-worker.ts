/** The worker of second-thread.ts. Results are transferred, not copied. */
import { parentPort, workerData } from 'node:worker_threads';
import { openShared, type SharedSnapshot } from '../../../formats/heapsnapshot/index.ts';
import { collectNow } from '../../../platform/pending-collection.ts';
import { computeDistances } from '../graph/distances.ts';
import { findOwnersOfParts } from '../graph/shallow-sizes.ts';
import { computeClasses } from '../questions/classes.ts';
import { allFacets, type FacetName, type Facets } from './second-thread.ts';

const { shared, wanted } = workerData as { shared: SharedSnapshot; wanted: readonly FacetName[] };
const snapshot = openShared(shared);
/** Working memory. The distances are written into it, so they are computed last. */
const room = new Uint32Array(snapshot.nodes.count);
const compute: { [Name in FacetName]: () => Facets[Name] } = {
  classes: () => computeClasses(snapshot, room),
  ownerOfPart: () => findOwnersOfParts(snapshot, room),
  distances: () => computeDistances(snapshot, undefined, room),
};
const facets: Partial<Facets> = {};
for (const name of allFacets) if (wanted.includes(name)) Object.assign(facets, { [name]: compute[name]() });
snapshot.close();
const { distances, classes, ownerOfPart } = facets;
const own = [distances, classes?.of, ownerOfPart].map((column) => column?.buffer);
parentPort?.postMessage(
  facets,
  own.filter((buffer): buffer is ArrayBuffer => buffer instanceof ArrayBuffer),
);
collectNow();
