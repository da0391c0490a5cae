/**
 * Reads the graph of a heap in memory: its objects, the roots, and what they keep alive.
 */
import type { V8Heap } from '../heap/heap.ts';
import type { HeapPage } from '../heap/heap-pages.ts';
import { HeapGraph } from './graph.ts';
import { teachMaps } from './kernel/kernel-maps.ts';
import { Marking } from './marking.ts';
import { Names } from './names.ts';
import { HandleBlocks } from './native/global-handles.ts';
import { MallocChunks } from './native/malloc-chunks.ts';
import { findStore } from './native/native-memory.ts';
import type { RootGroup, RootSources } from './native/root-sources.ts';
import { findRoots } from './native/roots.ts';
import { type BuiltinNames, NodeReader } from './node-facts.ts';
import { ObjectKinds } from './object-kinds.ts';
import { HeapObjects } from './objects/heap-objects.ts';
import { ReferenceReader } from './references.ts';

export interface GraphSources extends RootSources {
  pages: readonly HeapPage[];
  readOnlyPages: readonly HeapPage[];
  builtinAt: BuiltinNames;
}

export interface GraphOptions {
  /** Called with the number of objects of unknown size, which are counted with size 0. */
  onSizeless?(count: number): void;
  /** Called if C++ objects have more memory than is searched: what belongs to them may be missing. */
  onNativeCut?(): void;
  /** Called with the number of scopes that state more variables than their contexts have slots: these have no names. */
  onTornScopes?(count: number): void;
  /**
   * Replaces the text of strings that don't name anything. Default: their own text. Different strings remain different nodes
   * in both cases.
   */
  withheld?: string | undefined;
  /** Edges are asked for once, soon, so that they are kept rather than read from memory again. */
  keepsEdges?: boolean | undefined;
}

export function readGraph(
  heap: V8Heap,
  sources: GraphSources,
  { onSizeless, onNativeCut, onTornScopes, withheld, keepsEdges = false }: GraphOptions = {},
): HeapGraph {
  const objects = new HeapObjects(heap, sources.pages, sources.readOnlyPages);
  if (objects.sizeless > 0) onSizeless?.(objects.sizeless);
  const kinds = new ObjectKinds(
    heap.layout,
    ephemeronTypes(heap, objects),
    nativeContextTypes(heap, objects),
  );
  const names = new Names(withheld);
  const references = new ReferenceReader(heap, objects, kinds, names, sources.native);
  const chunks = new MallocChunks(sources.memory, sources.native);
  const handles = new HandleBlocks(objects, sources);
  const isGlobalHandle = (address: number) => handles.has(address);
  const buffers = objects.allOf(heap.layout.types.jsArrayBuffer);
  const roots = findRoots(objects, sources, {
    chunks,
    handles,
    buffers: new Set(Array.from(buffers, (object) => findStore(heap, objects, object))),
    isListed: (type) => kinds.isListed(type),
    onCut: () => onNativeCut?.(),
  });
  const marking = new Marking(heap, objects, kinds, references);
  const { kernel } = objects.words;
  if (kernel) teachMaps(kernel, { heap, objects, kinds, names, references }, marking);
  for (const { references: found } of roots)
    for (const { target, isWeak } of found) if (!isWeak) marking.add(target);
  const constants: RootGroup = { name: '(Read-only roots)', references: [] };
  for (let object = objects.next(objects.firstReadOnly); object >= 0; object = objects.next(object + 1)) {
    marking.add(object);
    constants.references.push({ target: object, isWeak: false });
  }
  marking.finish();
  objects.words.keepOnly(marking.live);
  const reader = new NodeReader(heap, objects, kinds, names, sources.builtinAt);
  const native = { memory: sources.memory, chunks, isGlobalHandle };
  const groups = [...roots, constants];
  const graph = new HeapGraph(
    { heap, objects, kinds, names, references, marking, reader, native, keepsEdges },
    groups,
  );
  if (graph.isNativeCut) onNativeCut?.();
  if (references.tornScopes > 0) onTornScopes?.(references.tornScopes);
  return graph;
}

/** The first field of a weak map or set is its table. V8's metadata does not describe the type of the table. */
function ephemeronTypes(heap: V8Heap, objects: HeapObjects): Set<number> {
  const { jsWeakMap, jsWeakSet } = heap.layout.types;
  const found = new Set<number>();
  for (const object of [...objects.allOf(jsWeakMap), ...objects.allOf(jsWeakSet)]) {
    const table = objects.target(object, heap.layout.collectionTable / 8);
    if (table >= 0) found.add(objects.typeOf(table));
  }
  return found;
}

/**
 * Contexts of realms have a type of their own, which V8's metadata does not describe either. Maps of a realm refer to its
 * context where others have their constructor.
 */
function nativeContextTypes(heap: V8Heap, objects: HeapObjects): Set<number> {
  const { map, types } = heap.layout;
  const [first, last] = types.context;
  const found = new Set<number>();
  for (const object of objects.allOf(types.map)) {
    const back = objects.target(object, map.constructorOrBack / 8);
    const type = back < 0 ? -1 : objects.typeOf(back);
    if (type >= first && type <= last) found.add(type);
  }
  return found;
}
