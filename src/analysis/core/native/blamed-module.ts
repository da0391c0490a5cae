/**
 * Whose native code a thread was running when it died: an addon or another library, rather than Node, which called it. Pure.
 */
import type { Frame } from '../../../model/thread.ts';

/** The C and C++ runtime libraries, which only do what their callers ask for. */
const runtimeLibraries =
  /^(?:\[?vdso|linux-vdso|ld-(?:linux|musl)|lib(?:c|m|pthread|dl|rt|stdc\+\+|gcc_s)\b)/;

/**
 * The file name of the first module that is not a runtime library; undefined if that is Node. `nodes`: paths of Node's own
 * modules. What Node does in napi_fatal_error is attributed to the addon that called it.
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
