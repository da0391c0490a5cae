/**
 * The stack of one error: what was printed and what V8 recorded, joined, led through the source maps of the bundle to
 * the lines that a person wrote, with the code around them. Raw positions win over printed ones; a position that the
 * host had mapped already is not mapped again; where a map is missing or wrong the frame stays where the code ran and
 * a gap says so.
 */
import { type LoadedScript, partNames, type RawFrame } from '../../bundle/layout/bundle.ts';
import { readStackText } from '../../formats/stack-text/stack-text.ts';
import type { Frame } from '../../model/thread.ts';
import type { Gap } from '../../model/verdict.ts';
import { alignFrames, type JoinedFrame } from './align.ts';
import { FramePlacer } from './frame-placer.ts';
import { restoreNames } from './function-names.ts';
import type { PlacedFrame } from './placed-frame.ts';
import { ScriptIndex } from './scripts.ts';

export interface StackSources {
  scripts: readonly LoadedScript[];
  /** Bytes of a part of the bundle; undefined when it has none of that name. */
  readPart: (name: string) => Uint8Array | undefined;
  /** Folder of the program, which decides what is its own code and where bundlers' paths begin. */
  appRoot?: string;
  /** Lines of code on each side of a position; 2 unless said. */
  contextLines?: number;
}

export interface StackInput {
  stackText?: string;
  /** The error's message, where known: keeps lines of it from being taken for frames. */
  message?: string;
  frames?: readonly RawFrame[];
  /** The text was made of a debugger's frames: no host has mapped its positions. */
  isOfDebugger?: boolean;
}

export interface ReconstructedStack {
  frames: Frame[];
  gaps: Gap[];
}

/** Frames beyond this are counted in a gap: a stack overflow repeats itself. */
const mostFrames = 1000;

/** One stack. For several stacks of one bundle open a StackReconstructor, which opens each map only once. */
export async function reconstructStack(input: StackInput & StackSources): Promise<ReconstructedStack> {
  const reconstructor = new StackReconstructor(input);
  try {
    const frames = await reconstructor.reconstruct(input);
    return { frames, gaps: reconstructor.gaps };
  } finally {
    reconstructor.close();
  }
}

export class StackReconstructor {
  private readonly scripts: ScriptIndex;
  private readonly placer: FramePlacer;
  private readonly ownGaps: Gap[] = [];

  constructor(sources: StackSources) {
    this.scripts = new ScriptIndex(sources.scripts, sources.readPart, sources.appRoot);
    this.placer = new FramePlacer(this.scripts, sources.appRoot, sources.contextLines ?? 2);
  }

  /** Gaps of all stacks so far, each once. */
  get gaps(): Gap[] {
    return [...this.scripts.gaps, ...this.ownGaps];
  }

  async reconstruct(input: StackInput): Promise<Frame[]> {
    const hints = input.message === undefined ? {} : { message: input.message };
    const text = readStackText(input.stackText ?? '', hints);
    const { frames, hostMaps } = alignFrames(text.frames, input.frames ?? []);
    // Learnt from a stack with raw positions, it holds for those without.
    if (hostMaps) this.placer.hostMaps = true;
    if (frames.length > mostFrames) {
      const reason = `only the first ${mostFrames} of ${frames.length} frames are shown`;
      this.ownGaps.push({ part: partNames.error, reason });
    }
    const placed = await this.placeAll(frames.slice(0, mostFrames), input.isOfDebugger === true);
    restoreNames(placed);
    return placed.map(({ frame }) => frame);
  }

  /** Releases the maps. */
  close(): void {
    this.scripts.close();
  }

  /** Again, while a frame shows that a map is wrong which earlier frames were led through. */
  private async placeAll(frames: readonly JoinedFrame[], isOfDebugger: boolean): Promise<PlacedFrame[]> {
    for (;;) {
      const placed: PlacedFrame[] = [];
      for (const frame of frames) placed.push(await this.placer.place(frame, isOfDebugger));
      if (placed.every(({ map }) => map?.trusted ?? true)) return placed;
    }
  }
}
