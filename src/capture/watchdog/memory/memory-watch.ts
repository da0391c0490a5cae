/**
 * Watches for memory near its limit: checked whenever the watchdog asks for a sign of life, so without a timer of its own,
 * and by the watchdog if memory grows while the loop is blocked (silent-growth.ts). Half way to the threshold the allocation
 * profile is started. From then on memory and profile are written to the journal each time that memory has grown by a
 * twentieth of its limit, because nothing can be written once the heap runs out. At the threshold one light snapshot is
 * taken, once; neither if the heap has no room for it. Measured: the profile takes 3 to 9 % of the CPU time of a program that only allocates.
 */
import type { HeapGrowth, HeapProfilePart, LocalsPart } from '../../../bundle/layout/bundle.ts';
import type { MemoryReading, MemorySampler } from '../../heap/memory-sampler.ts';
import { AllocationProfile } from './allocation-profile.ts';
import { hasRoomForSnapshot } from './heap-room.ts';

export interface MemoryWatchOptions {
  /** Share of the limit, in percent. */
  percent: number;
  sampler: MemorySampler;
  /** Opens a journal if there is none, and writes memory and profile to it. */
  note(profile: HeapProfilePart | undefined): void;
  /** Takes the one snapshot; for a main thread that was interrupted, with the place. */
  snapshot(reason: string, where?: Interrupted): void;
  /** For a look in passing: whose work has filled the heap since. */
  growth?(usedBytes: number): HeapGrowth | undefined;
}

interface Interrupted {
  stackText: string;
  locals?: LocalsPart['frames'];
}

interface Use {
  name: string;
  used: number;
  limit: number;
}

/** Also how far memory grows between two looks of the watchdog itself. */
export const stepShare = 0.05;

export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #profile = new AllocationProfile();
  #hasSnapshot = false;
  #notedShare = 0;
  /** Why the snapshot is due. */
  #due: string | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** Whether the snapshot is due. */
  look(mustBeNew: boolean): boolean {
    const reading = this.#options.sampler.read(mustBeNew);
    const tightest = usesOf(reading).sort((a, b) => shareOf(b) - shareOf(a))[0];
    const growth = mustBeNew ? this.#options.growth?.(reading.oldSpace.used) : undefined;
    if (!tightest) return false;
    const share = shareOf(tightest);
    const threshold = this.#options.percent / 100;
    if (share < threshold / 2 || share < this.#notedShare + stepShare) return false;
    this.#notedShare = share;
    if (!this.#profile.isArmed) this.#profile.arm(tightest.limit);
    const profile = this.#profile.read(tightest.used, tightest.limit, reading.oldSpace);
    this.#options.note(profile && growth ? { ...profile, growth } : profile);
    if (share < threshold || this.#hasSnapshot || !hasRoomForSnapshot(reading.oldSpace)) return false;
    this.#due = `memory is at ${Math.round(share * 100)} % of ${tightest.name}`;
    return true;
  }

  takeSnapshot(where?: Interrupted): void {
    if (this.#due === undefined || this.#hasSnapshot) return;
    this.#hasSnapshot = true;
    this.#options.snapshot(this.#due, where);
  }

  stop(): void {
    this.#profile.disarm();
  }
}

function shareOf({ used, limit }: Use): number {
  return used / limit;
}

function usesOf({ oldSpace, cgroupCurrent, cgroupMax }: MemoryReading): Use[] {
  const heap = { name: "V8's heap limit", ...oldSpace };
  return cgroupCurrent === undefined || cgroupMax === undefined
    ? [heap]
    : [heap, { name: "the cgroup's limit", used: cgroupCurrent, limit: cgroupMax }];
}
