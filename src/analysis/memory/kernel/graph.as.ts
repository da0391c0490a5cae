/**
 * The walks over a small snapshot's graph in AssemblyScript (https://www.assemblyscript.org): for a heap of about ten
 * megabytes, the same loops in JavaScript would finish before V8 compiles them. `npm run build:kernel` compiles this file and
 * its imports into graph-code.ts. Algorithms, names and sources are those of the TypeScript code for large snapshots.
 */
export * from './graph-classes';
export {
  classCountAt,
  classDistanceAt,
  classRetainedAt,
  classRoom,
  classSelfAt,
  distanceAt,
  dominatedAt,
  dominatorAt,
  edgeNameAt,
  edgeNameHighAt,
  firstAt,
  firstEdgeAt,
  idAt,
  layout,
  markedAt,
  markOfNameAt,
  marksAt,
  nameAt,
  numberAt,
  orderAt,
  ownerAt,
  packedAt,
  parentAt,
  placeOfAt,
  plainAt,
  plainStateAt,
  retainedAt,
  retainerFirstAt,
  retainersAt,
  rowAt,
  selfSizeAt,
  semiAt,
  shallowAt,
  sharedAt,
  stateCountAt,
  stateFirstAt,
  typeAt,
} from './graph-columns';
export * from './graph-distances';
export * from './graph-dominators';
export * from './graph-edges';
