/** In a job's thread: the memory of a core, or of the mini core in a bundle, opened and asked. */
import { type MemoryView, openMemoryView, regionAt } from '../../analysis/core/memory-view.ts';
import { partNames } from '../../bundle/layout/bundle.ts';
import type { Keys } from '../../bundle/read/age.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { MemoryRegion } from '../../model/core-memory.ts';
import type { Progress } from '../protocol.ts';
import type { MemoryAnswers, MemoryQuestion, MemorySummary, RegionRow, WordRow } from './questions.ts';

export interface MemoryPlace {
  path: string;
  isBundle: boolean;
  keys?: Keys | undefined;
  executable?: string | undefined;
}

const wordBytes = 8;

/** Throws like `openMemoryView`, and `not-found` for a bundle without a core. */
export async function openMemory(
  place: MemoryPlace,
  say: (progress: Progress) => void,
): Promise<MemorySession> {
  say({ text: 'reading the core' });
  const { path, isBundle, executable } = place;
  const core = isBundle ? coreOf(place) : path;
  return new MemorySession(await openMemoryView(core, executable === undefined ? {} : { executable }));
}

function coreOf({ path, keys }: MemoryPlace): Uint8Array {
  const bundle = openBundle(path, keys);
  try {
    const hasCore = bundle.parts.some(({ name }) => name === partNames.miniCore);
    const bytes = hasCore ? bundle.readPart(partNames.miniCore) : undefined;
    if (bytes) return bytes;
    throw new AgentdumpError('not-found', 'this bundle has no core', { path, name: partNames.miniCore });
  } finally {
    bundle.close();
  }
}

export class MemorySession {
  readonly #view: MemoryView;
  readonly summary: MemorySummary;

  constructor(view: MemoryView) {
    this.#view = view;
    const regions = view.regions.map(rowOf);
    this.summary = {
      threads: view.threads,
      regions,
      presentBytes: regions.reduce((sum, { presentBytes }) => sum + presentBytes, 0),
      gaps: view.gaps,
    };
  }

  answer({ at, count }: MemoryQuestion): MemoryAnswers['words'] {
    const address = Number(at);
    const first = address - (address % wordBytes);
    const region = regionAt(this.#view.regions, first);
    return {
      at: hex(first),
      ...(region && { region: rowOf(region) }),
      words: this.#view.words(first, count).map(
        ({ address: own, refersTo, ...word }): WordRow => ({
          ...word,
          address: hex(own),
          ...(refersTo && {
            refersTo: { ...refersTo, at: hex(Number(word.value) - (refersTo.kind === 'object' ? 1 : 0)) },
          }),
        }),
      ),
    };
  }
}

const rowOf = ({ start, end, access, name, presentBytes }: MemoryRegion): RegionRow => ({
  start: hex(start),
  end: hex(end),
  access,
  name,
  bytes: end - start,
  presentBytes,
});

const hex = (address: number): string => `0x${address.toString(16)}`;
