/** What the hot half hands to the cold one of an event. */
import type { LocalsPart, TriggerKind, TriggerPart } from '../../bundle/layout/bundle.ts';

/** Those that the program itself can notice; the others are the supervisor's. */
export type InsideKind = Exclude<TriggerKind, 'capture' | 'found-dead' | 'silence' | 'supervised-exit'>;

/** What a trigger knows of its event. */
export interface CaptureRequest {
  kind: InsideKind;
  handledByHost: boolean;
  thrown?: { value: unknown };
  /** The stack that led to the event, when there is no thrown value: of a process.exit, say. */
  stackText?: string;
  /** Of a main thread that was interrupted; innermost first. */
  locals?: LocalsPart['frames'];
  /** A session of another thread has the program take this while it runs: no debugger may be open (README.md). */
  inPassing?: boolean;
  details?: Partial<
    Pick<
      TriggerPart,
      | 'reason'
      | 'signal'
      | 'exitCode'
      | 'exitStack'
      | 'origin'
      | 'worker'
      | 'pending'
      | 'setByNode'
      | 'stall'
      | 'silence'
    >
  >;
}

/** Nothing ends with it: the program is looked at while it lives. */
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
