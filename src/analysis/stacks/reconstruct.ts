/**
 * Reconstructs the stack of one error: joins the printed stack with V8's positions and maps it through the bundle's source
 * maps to the source, with the code around each frame. Raw positions take precedence over printed ones; positions that the
 * host has mapped are not mapped again. If a map is missing or wrong, the frame keeps its position in the generated code, and
 * a gap gives the reason.
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
  /** The contents of a part of the bundle; undefined if it doesn't exist. */
  readPart: (name: string) => Uint8Array | undefined;
  /** Root folder of the program: defines what is its own code, and resolves bundlers' paths. */
  appRoot?: string;
  /** Lines of code on each side of a position. Default: 2. */
  contextLines?: number;
}

export interface StackInput {
  stackText?: string;
  /** The error's message, if known, so that its lines aren't parsed as frames. */
  message?: string;
  frames?: readonly RawFrame[];
  /** The text was made from a debugger's frames, so that no host has mapped its positions. */
  isOfDebugger?: boolean;
}

export interface ReconstructedStack {
  frames: Frame[];
  gaps: Gap[];
}

/** Further frames are only counted, in a gap: a stack overflow repeats itself. */
const mostFrames = 1000;

/** Reconstructs one stack. For several stacks of one bundle use a StackReconstructor, which opens each map only once. */
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

  /** The gaps of all stacks so far, without duplicates. */
  get gaps(): Gap[] {
    return [...this.scripts.gaps, ...this.ownGaps];
  }

  async reconstruct(input: StackInput): Promise<Frame[]> {
    const hints = input.message === undefined ? {} : { message: input.message };
    const text = readStackText(input.stackText ?? '', hints);
    const { frames, hostMaps } = alignFrames(text.frames, input.frames ?? []);
    // Detected from a stack with raw positions, and applied to stacks without.
    if (hostMaps) this.placer.hostMaps = true;
    else if (!input.isOfDebugger) await this.placer.learnHost(frames);
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

  /** Repeated if a frame shows that a map used by earlier frames is wrong. */
  private async placeAll(frames: readonly JoinedFrame[], isOfDebugger: boolean): Promise<PlacedFrame[]> {
    for (;;) {
      const placed: PlacedFrame[] = [];
      for (const frame of frames) placed.push(await this.placer.place(frame, isOfDebugger));
      if (placed.every(({ map }) => map?.trusted ?? true)) return placed;
    }
  }
}
