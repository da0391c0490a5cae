/** How frames and files are named in verdicts and reports: short, the same everywhere. Pure. */
import type { Frame } from './thread.ts';

/** `file:line:column`, the file relative to the program's folder where it lies in it. */
export function placeOf(frame: Frame, cwd?: string): string | undefined {
  if (frame.file === undefined) return undefined;
  const file = shortFile(frame.file, cwd);
  if (frame.line === undefined) return file;
  return frame.column === undefined ? `${file}:${frame.line}` : `${file}:${frame.line}:${frame.column}`;
}

/** `planNextStep (src/agent.ts:42:17)`. */
export function frameText(frame: Frame, cwd?: string): string {
  const place = placeOf(frame, cwd);
  const name = frame.function;
  if (name && place) return `${name} (${place})`;
  return name ?? place ?? 'an unknown place';
}

export function shortFile(file: string, cwd?: string): string {
  const path = file.replace(/^file:\/\//, '');
  const root = cwd?.replace(/\/+$/, '');
  return root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** The frame that a person would open first: the topmost of the program's own, or the topmost with a position. */
export function culpritFrame(frames: readonly Frame[] | undefined): Frame | undefined {
  return frames?.find((f) => f.inApp && f.file !== undefined) ?? frames?.find((f) => f.file !== undefined);
}
