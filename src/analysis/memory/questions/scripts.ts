/**
 * Where things are defined: the file of a script id, and the npm package of a file. Locations in a snapshot have only script
 * ids; the names come from references of functions to their code and its script.
 */
import { EdgeType, edgeTargetMask, NodeType, type SourcePlace } from '../../../formats/heapsnapshot/index.ts';
import type { HeapSource } from '../../../model/heap.ts';
import type { Heap } from '../heap.ts';
import { findChild } from './node-rows.ts';

const known = new WeakMap<Heap, Map<number, string>>();

/** File or URL by script id, for scripts with a function that has a location. */
function scriptNames(heap: Heap): Map<number, string> {
  const names = known.get(heap) ?? collect(heap);
  known.set(heap, names);
  return names;
}

function collect(heap: Heap): Map<number, string> {
  const { snapshot } = heap;
  const { placeOf, places } = snapshot.locations;
  const shared = snapshot.strings.findAscii('shared');
  const names = new Map<number, string>();
  for (let node = 0; node < placeOf.length; node++) {
    if (placeOf[node] === 0 || snapshot.nodes.type[node] !== NodeType.closure) continue;
    const { scriptId } = places[placeOf[node]!]!;
    if (names.has(scriptId)) continue;
    const file = scriptOf(heap, node, shared);
    if (file) names.set(scriptId, plainPath(file));
  }
  return names;
}

function scriptOf(heap: Heap, closure: number, sharedName: number): string | undefined {
  const { firstEdge } = heap.snapshot.nodes;
  const { packed, nameOrIndex } = heap.snapshot.edges;
  for (let edge = firstEdge[closure]!; edge < firstEdge[closure + 1]!; edge++) {
    if (nameOrIndex.get(edge) !== sharedName || heap.snapshot.edgeType(edge) !== EdgeType.internal) continue;
    const info = packed[edge]! & edgeTargetMask;
    const direct = findChild(heap, info, 'script', EdgeType.internal);
    // The field's name up to V8 12.
    const script = direct >= 0 ? direct : findChild(heap, info, 'script_or_debug_info', EdgeType.internal);
    const name = script < 0 ? '' : heap.snapshot.nodeName(script);
    return name && !name.startsWith('system /') ? name : undefined;
  }
  return undefined;
}

export function sourceOf(heap: Heap, place: SourcePlace | undefined): HeapSource | undefined {
  if (!place) return undefined;
  const file = scriptNames(heap).get(place.scriptId);
  return {
    ...(file === undefined ? {} : { file }),
    scriptId: place.scriptId,
    line: place.line + 1,
    column: place.column + 1,
  };
}

/** `file:///a/b.js` becomes `/a/b.js`. */
function plainPath(file: string): string {
  if (!file.startsWith('file://')) return file;
  try {
    return decodeURIComponent(new URL(file).pathname);
  } catch {
    return file;
  }
}

export function sourceText(source: HeapSource | undefined): string {
  return source ? `${source.file ?? `script ${source.scriptId}`}:${source.line}:${source.column}` : '';
}

/** The npm package of a file: its name, `node:` for Node's own, `(program)` for all others. */
export function packageOf(file: string): string {
  if (file.startsWith('node:')) return 'node:';
  const at = file.lastIndexOf('/node_modules/');
  if (at < 0) return '(program)';
  const [scope = '', name] = file.slice(at + '/node_modules/'.length).split('/');
  return scope.startsWith('@') && name ? `${scope}/${name}` : scope;
}
