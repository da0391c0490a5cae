/** The walks in WebAssembly and those in TypeScript: the same graph, of a heap as it is and of torn ones. */
import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, mock, suite, test } from 'node:test';
import type { CoreDump } from '../../../../src/analysis/core/core-dump.ts';
import { readCoreGraph } from '../../../../src/analysis/core/graph/core-graph.ts';
import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import { edgeTypeShift } from '../../../../src/formats/v8/graph/edges/edge-batch.ts';
import { type HeapGraph, idOfNode } from '../../../../src/formats/v8/graph/graph.ts';
import { HeapKernel, NodeWay } from '../../../../src/formats/v8/graph/kernel/heap-kernel.ts';
import { Edge } from '../../../../src/formats/v8/graph/object-kinds.ts';
import { withheldString } from '../../../../src/redaction/snapshot/strings.ts';
import { CopiedMemory, makeBlock } from '../../../../src/supervise/native/copied-memory.ts';
import { type Death, makeCore, noCores, victims } from '../../../support/cores/core-victims.ts';
import { nodesInTurn, sampleOf } from '../../../support/run/test-nodes.ts';

/** No multiple of a page of V8's, so that pages begin and end within a block. */
const bytesOfBlock = (1 << 20) + 4096;

type Patches = ReadonlyMap<number, bigint>;

/** A file in which some words are others. */
class TornFile implements ByteSource {
  readonly #file: number;
  readonly #patches: Patches;
  readonly size: number;

  constructor(path: string, patches: Patches) {
    this.#file = openSync(path, 'r');
    this.#patches = patches;
    this.size = fstatSync(this.#file).size;
  }

  readInto(target: Uint8Array, offset: number): number {
    const length = readSync(this.#file, target, 0, target.length, offset);
    const word = Buffer.alloc(8);
    for (const [at, value] of this.#patches) {
      if (at + 8 <= offset || at >= offset + length) continue;
      word.writeBigUInt64LE(value);
      for (let i = 0; i < 8; i++)
        if (at + i >= offset && at + i < offset + length) target[at + i - offset] = word[i]!;
    }
    return length;
  }

  close(): void {
    closeSync(this.#file);
  }
}

interface Read {
  text: string[];
  count: number;
}

/** All nodes and edges as lines; withheld texts by the first node that has them. */
function readAll(source: string | ByteSource, isKept: boolean): Read {
  const { graph, close } = readCoreGraph(source, { withheld: withheldString, keepsEdges: isKept });
  const text: string[] = [];
  const firstNode = new Map<number, number>();
  let node = 0;
  for (const { count, types, names, sizes, edgeCounts } of graph.nodes())
    for (let i = 0; i < count; i++, node++) {
      const name = graph.names.text(names[i]!);
      const first = firstNode.get(names[i]!) ?? node;
      firstNode.set(names[i]!, first);
      text.push(`${types[i]} ${name === withheldString ? first : name} ${sizes[i]} ${edgeCounts[i]}`);
    }
  for (const { count, packed, names } of graph.edges())
    for (let i = 0; i < count; i++) {
      const type = packed[i]! >>> edgeTypeShift;
      const isIndex = type === Edge.element || type === Edge.hidden;
      text.push(`${packed[i]} ${isIndex ? names[i] : graph.names.text(names[i]!)}`);
    }
  close();
  return { text, count: node };
}

function* namesOfNodes(graph: HeapGraph): Generator<[node: number, name: string]> {
  let node = 0;
  for (const { count, names } of graph.nodes())
    for (let i = 0; i < count; i++) yield [node++, graph.names.text(names[i]!)];
}

/** Where in the file the object of a node is, if it has one. */
function placesOf(graph: HeapGraph, memory: CoreDump['memory'], node: number): number[] {
  const address = graph.addressOf(idOfNode(node));
  const extent = address === undefined ? undefined : memory.findExtent(address);
  return address && extent ? [extent.offset + address - extent.start] : [];
}

/** A file in blocks, as a copy of a process's memory is. */
function piecesOf(path: string): { bytes: Uint8Array; offset: number }[] {
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  const pieces = [];
  for (let offset = 0; offset < size; offset += bytesOfBlock) {
    const bytes = makeBlock(Math.min(bytesOfBlock, size - offset));
    readSync(file, bytes, 0, bytes.length, offset);
    pieces.push({ bytes, offset });
  }
  closeSync(file);
  return pieces;
}

/** Of a linear congruential generator. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

for (const node of nodesInTurn)
  suite(`the kernel that reads a heap of Node ${node.major}`, { skip: noCores }, () => {
    let death: Death;
    before(() => {
      death = makeCore(node.path, [join(victims, 'heap-graph.cjs'), '', '100']);
    });
    after(() => death?.remove());

    function compare(make: () => string | ByteSource, isKept: boolean): number {
      const read = () => {
        try {
          return readAll(make(), isKept);
        } catch (error) {
          return { text: [String(error)], count: 0 };
        }
      };
      const byKernel = read();
      const without = mock.method(HeapKernel, 'create', () => undefined);
      const plain = read();
      without.mock.restore();
      assert.equal(byKernel.count, plain.count);
      const different = byKernel.text.findIndex((line, i) => line !== plain.text[i]);
      assert.equal(different < 0 ? '' : byKernel.text[different], different < 0 ? '' : plain.text[different]);
      assert.equal(byKernel.text.length, plain.text.length);
      return plain.count;
    }

    test('is used', () => {
      assert.ok(HeapKernel.create(1));
    });

    test('finds what TypeScript finds, whether edges are kept or read again', () => {
      // Torn pages are read without keeping edges.
      for (const isKept of sampleOf([true, false], 2)) assert.ok(compare(() => death.core, isKept) > 10_000);
    });

    test('finds it with columns above 2 GB too, as a heap of 1.5 GB has them', () => {
      const { create } = HeapKernel;
      const large = mock.method(HeapKernel, 'create', (rows: number) => create.call(HeapKernel, rows + 6000));
      const far = readAll(death.core, false);
      large.mock.restore();
      assert.equal(large.mock.callCount(), 1);
      const near = readAll(death.core, false);
      assert.equal(far.text.length, near.text.length);
      assert.ok(far.text.every((line, i) => line === near.text[i]));
    });

    test('finds it in a copy in our memory too, out of which the pages are moved', () => {
      const kept = piecesOf(death.core);
      const copy = new CopiedMemory({ kept, size: statSync(death.core).size });
      const before = kept.length;
      const moved = readAll(copy, true);
      const inFile = readAll(death.core, true);
      assert.equal(moved.text.length, inFile.text.length);
      assert.ok(moved.text.every((line, i) => line === inFile.text[i]));
      assert.ok(before > 1 && kept.every(({ bytes }) => bytes.length === 0));
    });

    test('where scopes state two billion variables', () => {
      const patches = new Map<number, bigint>();
      const { close } = readCoreGraph(death.core, {
        onGraph(graph, { heap }, { memory }) {
          for (const [node, name] of namesOfNodes(graph))
            if (name === 'system / ScopeInfo')
              for (const at of placesOf(graph, memory, node))
                patches.set(at + heap.layout.scopeInfo.localCount, 0x7fff_ffffn << 32n);
        },
      });
      close();
      assert.ok(patches.size > 100);
      const torn = readCoreGraph(new TornFile(death.core, patches));
      torn.close();
      assert.match(torn.gaps.map(({ reason }) => reason).join('\n'), /\d scopes are torn: the names/);
    });

    test('in torn pages too', () => {
      const offsets: number[] = [];
      readCoreGraph(death.core, {
        onGraph(graph, _v8, { memory }) {
          for (let node = 10; node < graph.nodeCount; node++) offsets.push(...placesOf(graph, memory, node));
        },
      }).close();
      for (const seed of sampleOf([2, 1], 2)) {
        const random = randomFrom(seed);
        const patches = new Map<number, bigint>();
        for (let i = 0; i < 400; i++) {
          const at = offsets[random(offsets.length)]! + 8 * random(4);
          const kinds = [0n, BigInt(random(2 ** 31)) << 32n, BigInt(random(2 ** 32)), 0x7fff_ffff_ffff_fff9n];
          patches.set(at, kinds[random(kinds.length)]!);
        }
        assert.ok(compare(() => new TornFile(death.core, patches), seed === 1) > 1000);
      }
    });
  });

test('more texts than were counted have an end', () => {
  const kernel = HeapKernel.create(1)!;
  const { code, answers } = kernel;
  const words = kernel.words('rows', 64);
  const sets = (['starts', 'ends', 'live'] as const).map((which) => kernel.words(which, 4));
  // Strings of 8 characters, in three words each: map, hash and length, characters.
  for (let i = 0; i < 6; i++) {
    words.set([0x1001, 0, 0, 8, i, 0], i * 6);
    for (const [which, set] of sets.entries()) {
      const slot = i * 3 + (which === 1 ? 3 : 0);
      set[slot >>> 5]! |= 1 << (slot & 31);
    }
  }
  answers.learnMap = () => {
    kernel.bytes('nodeWays', 1)[0] = NodeWay.oneByte;
    code.putMap(0x1001, 0, 0);
    return 0;
  };
  let texts = 0;
  answers.addWithheld = () => texts++;
  code.setFirstReadOnly(1 << 15);
  code.startNodes(3, 12, 16, false);
  assert.equal(code.readNodes(100), 6);
  assert.deepEqual(Array.from(kernel.words('batchNames', 6)), [0, 1, 2, 3, 4, 5]);
});
