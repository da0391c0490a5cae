/** Whose machine code a thread was in when it died: an addon or another library, rather than Node that it called. Pure. */
import type { Frame } from '../../../model/thread.ts';

/** The C and C++ run-time libraries: what they do they were asked for. */
const runtimeLibraries =
  /^(?:\[?vdso|linux-vdso|ld-(?:linux|musl)|lib(?:c|m|pthread|dl|rt|stdc\+\+|gcc_s)\b)/;

/**
 * The file name of the first module that is not of the run-time, where that is not Node. `nodes`: paths of Node's own. What
 * Node does in its interface for addons is the addon's wish.
 */
export function findBlamedModule(frames: readonly Frame[], nodes: ReadonlySet<string>): string | undefined {
  const isAsked = frames.some((frame) => frame.function === 'napi_fatal_error');
  let isNodes = isAsked;
  for (const frame of frames) {
    if (frame.module === undefined) return undefined;
    if (nodes.has(frame.module)) {
      if (!isNodes) return undefined;
      if (frame.function === 'napi_fatal_error') isNodes = false;
      continue;
    }
    const name = frame.module.slice(frame.module.lastIndexOf('/') + 1);
    if (!runtimeLibraries.test(name)) return name;
  }
  return undefined;
}
