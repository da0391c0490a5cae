/** The decimal text of a graph's records: some hundred million numbers for a large heap. */
import type { EdgeRecords, NodeRecords } from '../../../formats/heapsnapshot/index.ts';
import { edgeTargetMask, edgeTypeShift } from '../../../formats/v8/graph/edges/edge-batch.ts';
import { idOfNode } from '../../../formats/v8/graph/graph.ts';
import { digitsCode } from './digits-code.ts';
import { nodeFields } from './snapshot-head.ts';

/** Each record ends with a comma. The text is valid until the next call. */
export interface RecordWriter {
  /** `firstNode`: ordinal of the batch's first node. */
  nodes(batch: NodeRecords, firstNode: number): Iterable<Uint8Array>;
  edges(batch: EdgeRecords): Iterable<Uint8Array>;
}

interface Address {
  readonly value: number;
}

/** digits.as.ts */
interface Kernel extends Readonly<Record<'typesAt' | 'namesAt' | 'wordsAt' | 'sizesAt' | 'textAt', Address>> {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly room: Address;
  start(): void;
  writeNodes(count: number, firstId: number): number;
  writeEdges(count: number, fieldsOfNode: number): number;
}

/** The part of the WebAssembly API used here; Node's types leave it to those of the browser. */
interface WebAssemblyApi {
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
}

export function createRecordWriter(): RecordWriter {
  const api = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly;
  if (!api) return plainWriter;
  const module = new api.Module(Buffer.from(digitsCode, 'base64'));
  return kernelWriter(new api.Instance(module).exports as Kernel);
}

function kernelWriter(kernel: Kernel): RecordWriter {
  kernel.start();
  const { buffer } = kernel.memory;
  const room = kernel.room.value;
  const types = new Uint8Array(buffer, kernel.typesAt.value, room);
  const names = new Uint32Array(buffer, kernel.namesAt.value, room);
  const words = new Uint32Array(buffer, kernel.wordsAt.value, room);
  const sizes = new Float64Array(buffer, kernel.sizesAt.value, room);
  const textAt = kernel.textAt.value;
  return {
    *nodes(batch, firstNode) {
      for (let from = 0; from < batch.count; from += room) {
        const end = Math.min(batch.count, from + room);
        types.set(batch.types.subarray(from, end));
        names.set(batch.names.subarray(from, end));
        sizes.set(batch.sizes.subarray(from, end));
        words.set(batch.edgeCounts.subarray(from, end));
        const textEnd = kernel.writeNodes(end - from, idOfNode(firstNode + from));
        yield new Uint8Array(buffer, textAt, textEnd - textAt);
      }
    },
    *edges(batch) {
      for (let from = 0; from < batch.count; from += room) {
        const end = Math.min(batch.count, from + room);
        names.set(batch.names.subarray(from, end));
        words.set(batch.packed.subarray(from, end));
        const textEnd = kernel.writeEdges(end - from, nodeFields.length);
        yield new Uint8Array(buffer, textAt, textEnd - textAt);
      }
    },
  };
}

/** For a Node without WebAssembly (--jitless). */
export const plainWriter: RecordWriter = {
  *nodes({ count, types, names, sizes, edgeCounts }, firstNode) {
    let text = '';
    for (let i = 0; i < count; i++)
      text += `${types[i]},${names[i]},${idOfNode(firstNode + i)},${sizes[i]},${edgeCounts[i]},0,`;
    yield Buffer.from(text, 'latin1');
  },
  *edges({ count, packed, names }) {
    let text = '';
    for (let i = 0; i < count; i++) {
      const word = packed[i]!;
      text += `${word >>> edgeTypeShift},${names[i]},${(word & edgeTargetMask) * nodeFields.length},`;
    }
    yield Buffer.from(text, 'latin1');
  },
};
