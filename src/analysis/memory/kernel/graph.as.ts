/**
 * The walks over a small snapshot's graph, in AssemblyScript (https://www.assemblyscript.org): of a heap of some ten
 * megabytes V8 has not compiled the same loops in JavaScript before they are over. `npm run build:kernel` compiles this
 * file, and those that it names, into graph-code.ts. The algorithms, their names and their sources are those of the
 * TypeScript that does the same for large snapshots.
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
