/** What the hot half passes to the cold half about an event. */
import type { LocalsPart, TriggerKind, TriggerPart } from '../../bundle/layout/bundle.ts';

/** The kinds that the program itself can detect; the others come from the supervisor. */
export type InsideKind = Exclude<TriggerKind, 'capture' | 'found-dead' | 'silence' | 'supervised-exit'>;

/** What a trigger knows about its event. */
export interface CaptureRequest {
  kind: InsideKind;
  handledByHost: boolean;
  /** The program's listeners for the event. */
  handlers?: readonly object[];
  /** What the program has for uncaught exceptions, or for their monitor, is called next, and may throw. */
  isHandledNext?: boolean;
  /** When it happened, before anything is loaded or collected: ages are relative to it. Without it, they are to now. */
  atMs?: number;
  thrown?: { value: unknown };
  /** The stack that led to the event if there is no thrown value, for example that of a process.exit. */
  stackText?: string;
  /** Of an interrupted main thread; innermost first. */
  locals?: LocalsPart['frames'];
  /** Taken on request of another thread's session while the program runs: no debugger may be opened (README.md). */
  inPassing?: boolean;
  details?: Partial<
    Pick<
      TriggerPart,
      | 'reason'
      | 'signal'
      | 'exitCode'
      | 'exitStack'
      | 'origin'
      | 'thrownBy'
      | 'worker'
      | 'pending'
      | 'setByNode'
      | 'duringTest'
      | 'stall'
      | 'silence'
    >
  >;
}

/** The program keeps running after the bundle. */
export function leavesAlive(kind: InsideKind): boolean {
  switch (kind) {
    case 'snapshot-call':
    case 'snapshot-signal':
    case 'snapshot-memory':
    case 'stall':
    case 'no-progress':
      return true;
    default:
      return false;
  }
}
