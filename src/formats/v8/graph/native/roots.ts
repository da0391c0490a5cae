/**
 * References from outside of V8's heap that keep objects alive. Except for global handles they are found conservatively: words of
 * the isolate, of memory that it owns, and of the threads' stacks that point exactly to an object. Such a root may be a
 * coincidence, and is marked as a guess. Sources: src/execution/isolate.h, src/heap/heap.h of V8.
 */
import type { HeapObjects } from '../objects/heap-objects.ts';
import type { HandleBlocks } from './global-handles.ts';
import { findIsolateRoots, type NativeFacts } from './isolate-roots.ts';
import { inRanges } from './native-words.ts';
import type { RootGroup, RootReference, RootSources } from './root-sources.ts';

export function findRoots(objects: HeapObjects, sources: RootSources, facts: NativeFacts): RootGroup[] {
  const { handles } = facts;
  return [
    { name: '(Global handles)', references: handles.references },
    { name: '(Stack roots, conservative)', references: stackRoots(objects, sources, handles) },
    { name: '(Isolate, conservative)', references: findIsolateRoots(objects, sources, facts) },
  ];
}

/** Objects that a stack refers to directly or through its handles: words of the native heap that point to objects. */
function stackRoots(objects: HeapObjects, sources: RootSources, handles: HandleBlocks): RootReference[] {
  const { memory, stacks, native } = sources;
  const isNative = inRanges(native);
  const found = new Set<number>();
  for (const [start, end] of stacks)
    for (let at = start; at + 8 <= end; at += 8) {
      const word = memory.findWord(at);
      if (word === undefined || word <= 4096) continue;
      const direct = word % 2 === 1 ? objects.words.objectFor(word) : -1;
      if (direct >= 0) found.add(direct);
      if (word % 8 !== 0 || !isNative(word) || handles.has(word)) continue;
      const handle = memory.findWord(word);
      const behind = handle !== undefined && handle % 4 === 1 ? objects.words.objectFor(handle) : -1;
      if (behind >= 0) found.add(behind);
    }
  return [...found].map((target) => ({ target, isWeak: false }));
}
