/**
 * What work that a deadline may end has to undo (deadline.ts). V8 runs no `finally` of what it terminates: a debugger session
 * would stay open in a program that lives on, or a setting of Node stay changed. So it is noted here too, and the deadline does it.
 */
const due: (() => void)[] = [];

/** `undo` must not fail if it was done before. Returns the function that does it, for the `finally`. */
export function toUndo(undo: () => void): () => void {
  const depth = due.length;
  due.push(undo);
  return () => undoDownTo(depth);
}

export const undoDepth = (): number => due.length;

/** The newest first. One that fails keeps no other from being done. */
export function undoDownTo(depth: number): void {
  while (due.length > depth) {
    try {
      due[due.length - 1]?.();
    } catch {
      // It was of something that the program has replaced meanwhile.
    }
    due.pop();
  }
}
