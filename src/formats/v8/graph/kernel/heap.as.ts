/**
 * The walks over the objects of a heap in memory, in AssemblyScript (https://www.assemblyscript.org): which objects live, their
 * references and their nodes. `npm run build:kernel` compiles this file and its imports into heap-code.ts. What only some objects
 * have is left to TypeScript.
 */
export { codeOf, follow, isLive, mark, numberLive } from './heap-marking';
export {
  batchNamesAt,
  batchSizesAt,
  batchTypesAt,
  beforeAt,
  codeRoom,
  codesAt,
  constantsAt,
  countsAt,
  edgeRoom,
  endsAt,
  flagsAt,
  indexesAt,
  indexRoom,
  keepOnlyLive,
  layout,
  liveAt,
  mapRoom,
  namesAt,
  nodeNamesAt,
  nodeRoom,
  nodeSlotsAt,
  nodeTypesAt,
  nodeWaysAt,
  packedAt,
  programAt,
  programRoom,
  programsAt,
  putChunk,
  putMap,
  rowsAt,
  setFirstReadOnly,
  startsAt,
  tagStepsAt,
  tagsAt,
  textsAt,
  waysAt,
} from './heap-memory';
export { next, readNodes, startNodes } from './heap-nodes';
export { clearEdges, edges, index, readFrom, start, strings } from './heap-references';
