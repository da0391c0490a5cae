/**
 * A heap snapshot with everything that is computed from it, each part on first use. The entry point of this folder for the
 * command line and the rules; produces no output itself.
 */

import { MalformedInput } from '../../errors.ts';
import {
  type HeapSnapshot,
  type ReadOptions,
  RetainerIndex,
  readHeapSnapshot,
  type SizeColumn,
  type SnapshotInput,
} from '../../formats/heapsnapshot/index.ts';
import { computeDistances } from './graph/distances.ts';
import { DominatedIndex } from './graph/dominated-index.ts';
import { computeDominators, type DominatorTree } from './graph/dominators.ts';
import { markEphemerons } from './graph/ephemerons.ts';
import { computeRetainedSizes, type RetainedSizes } from './graph/retained-sizes.ts';
import { computeShallowSizes, giveToOwners } from './graph/shallow-sizes.ts';
import type { SpareMemory } from './graph/tree-memory.ts';
import { GraphKernel } from './kernel/graph-kernel.ts';
import { allFacets, type FacetName, startFacets } from './kernel/second-thread.ts';
import { type ClassAggregates, computeClassAggregates } from './questions/class-aggregates.ts';
import { type ClassTable, computeClasses } from './questions/classes.ts';

export interface HeapOptions extends ReadOptions {
  /** Called when the computation of a part begins, with the name of its property. */
  onPhase?(name: string): void;
}

export async function openHeap(input: SnapshotInput, options: HeapOptions = {}): Promise<Heap> {
  const memoryFor = options.memoryFor ?? GraphKernel.memoryFor;
  return new Heap(await readHeapSnapshot(input, { ...options, memoryFor }), options.onPhase);
}

export class Heap {
  readonly snapshot: HeapSnapshot;
  readonly root: number;
  readonly #onPhase: ((name: string) => void) | undefined;

  constructor(snapshot: HeapSnapshot, onPhase?: (name: string) => void) {
    this.snapshot = snapshot;
    this.#onPhase = onPhase;
    this.root = snapshot.header.rootOrdinal;
  }

  /** The result replaces the getter: loops over all nodes ask for a part again and again. */
  #once<Value>(what: string, compute: () => Value): Value {
    this.#requireEdges();
    this.#onPhase?.(what);
    return this.#keep(what, compute());
  }

  #keep<Value>(what: string, value: Value): Value {
    Object.defineProperty(this, what, { value, configurable: true });
    return value;
  }

  #has(what: string): boolean {
    return Object.hasOwn(this, what);
  }

  /** All parts need the whole graph: half of it would produce sizes that look right but are wrong. */
  #requireEdges(): void {
    const gap = this.snapshot.gaps.find(({ section }) => section === 'edges');
    if (gap)
      throw new MalformedInput(`only a summary can be given: ${gap.reason}`, {
        format: 'heapsnapshot',
        field: 'edges',
      });
  }

  /**
   * Computes what nearly every query needs, on two threads if that is faster. Optional.
   * @param facets what the second thread computes in parallel to the dominators.
   */
  async prepare(facets: readonly FacetName[] = allFacets): Promise<void> {
    this.#requireEdges();
    markEphemerons(this.snapshot);
    const computing = startFacets(this.snapshot, facets);
    if (!computing) return;
    const { tree: _ } = this;
    const found = await computing;
    if (!found) return;
    const { ownerOfPart, ...computed } = found;
    for (const [name, value] of Object.entries(computed)) if (!this.#has(name)) this.#keep(name, value);
    if (ownerOfPart && !this.#has('selfSize'))
      this.#once('selfSize', () => giveToOwners(this.snapshot, ownerOfPart, this.#spare?.take()));
  }

  /** Memory that the dominator tree no longer uses. */
  get #spare(): SpareMemory | undefined {
    return this.#has('tree') ? this.tree.spare : undefined;
  }

  /** Working memory, one word per node. Not available after the index of dominated nodes, which uses it, was built. */
  get #work(): Uint32Array | undefined {
    return this.#has('dominated') ? undefined : this.#spare?.work;
  }

  get nodeCount(): number {
    return this.snapshot.nodes.count;
  }

  get tree(): DominatorTree {
    return this.#once('tree', () => computeDominators(this.snapshot));
  }

  /** Self sizes, with internal parts counted at their owner. */
  get selfSize(): SizeColumn {
    return this.#once('selfSize', () => computeShallowSizes(this.snapshot, this.#spare?.take()));
  }

  get retained(): RetainedSizes {
    return this.#once('retained', () => computeRetainedSizes(this.tree, this.selfSize));
  }

  get distances(): Int32Array {
    return this.#once('distances', () => computeDistances(this.snapshot, this.#work, this.#spare?.take()));
  }

  get classes(): ClassTable {
    return this.#once('classes', () => computeClasses(this.snapshot, this.#work, this.#spare?.classes));
  }

  get dominated(): DominatedIndex {
    // Until then the retained sizes need this memory.
    const spare = this.#has('retained') ? this.#spare : undefined;
    return this.#once(
      'dominated',
      () => new DominatedIndex(this.tree.dominator, this.root, GraphKernel.of(this.snapshot), spare),
    );
  }

  get retainers(): RetainerIndex {
    const { nodes, edges } = this.snapshot;
    return this.#once('retainers', () => new RetainerIndex(nodes, edges, this.#retainersInKernel()));
  }

  #retainersInKernel(): { first: Uint32Array; edges: Uint32Array } | undefined {
    const kernel = GraphKernel.of(this.snapshot);
    if (!kernel) return undefined;
    const { count } = this.snapshot.edges;
    kernel.code.indexRetainers(count);
    return {
      first: kernel.words('retainerFirst', this.nodeCount + 1),
      edges: kernel.words('retainers', count),
    };
  }

  get aggregates(): ClassAggregates {
    return this.#once('aggregates', () =>
      computeClassAggregates(
        this.classes,
        this.selfSize,
        this.retained,
        () => this.distances,
        { index: () => this.dominated, isThere: this.#has('dominated') },
        this.root,
        this.tree,
      ),
    );
  }

  /** The size of all nodes, and what V8 counts outside of them: DevTools' total. */
  get totalBytes(): number {
    return this.retained[this.root]! + this.snapshot.header.extraNativeBytes;
  }

  className(node: number): string {
    return this.classes.kinds[this.classes.of[node]!]!.name;
  }
}
