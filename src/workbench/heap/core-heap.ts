/** The heap of a core: its graph as a snapshot, and its memory beside it, which has the numbers and the bytes. */
import { readAnyCoreGraph } from '../../analysis/core/graph/core-graph.ts';
import { type HeapInput, openHeapInput } from '../../analysis/core/graph/heap-input.ts';
import { openMemoryView } from '../../analysis/core/memory-view.ts';
import type { Gap } from '../../model/verdict.ts';
import type { InMemory } from './session.ts';

export interface CoreHeap {
  input: HeapInput['input'];
  gaps: Gap[];
  inMemory: InMemory;
  close(): void;
}

/** A slot of the graph begins at the object's address; a pointer to it has V8's tag. */
const tag = 1;

/** Throws like `readAnyCoreGraph`. */
export async function openCoreHeap(path: string, executable: string | undefined): Promise<CoreHeap> {
  const options = executable === undefined ? {} : { executable };
  const { input, graph, gaps } = await openHeapInput(
    (more) => readAnyCoreGraph(path, { ...options, ...more }),
    { strings: process.env['AGENTDUMP_HEAP_STRINGS'] === 'clean' ? 'clean' : 'names' },
  );
  const memory = await openMemoryView(path, options);
  return {
    input,
    gaps,
    inMemory: {
      addressOf: (id) => graph.addressOf(id),
      idAt: (address) => graph.idAt(address),
      inspect(id, limit) {
        const address = graph.addressOf(id);
        const value = address === undefined ? undefined : memory.inspect(address + tag, limit);
        return (
          value && {
            ...value,
            entries: value.entries.map(({ key, text, pointer }) => ({
              key,
              text,
              id: (pointer === undefined ? undefined : graph.idAt(pointer)) ?? 0,
            })),
          }
        );
      },
    },
    close: () => memory.close(),
  };
}
