/**
 * Events in the process that did not end it: warnings, errors that the host handled, children and their ends. The newest are
 * kept unredacted for the bundle of a death; the flight recorder is notified of each. Redacted by whoever writes them.
 */
import type { ChildProcess } from 'node:child_process';
import type {
  ChildEndPayload,
  HandledErrorPayload,
  ResourcePeakPayload,
  WarningPayload,
} from '../../journal/layout/records.ts';
import { shellBase } from '../../platform/signals.ts';
import { hasFormatter } from '../host/intrinsics/own-stack.ts';
import { findField } from '../host/read-field.ts';

export interface Child extends ChildEndPayload {
  command: string;
  startedAt: number;
  endedAt?: number;
  /** It could not be started. */
  error?: string;
}

export type ProcessEvent = { at: number } & (
  | { kind: 'warning'; payload: WarningPayload }
  | { kind: 'handledException' | 'handledRejection'; payload: HandledErrorPayload }
  | { kind: 'childStart' | 'childEnd'; payload: Child }
  | { kind: 'resourcePeak'; payload: ResourcePeakPayload }
);

/** A process that a launcher has started: the message of the channel, and when it came. */
export interface Launched {
  message: unknown;
  startedAt: number;
}

/** From a message of the channel `child_process`. */
export const childIn = (message: unknown): ChildProcess | undefined =>
  (message as { process?: ChildProcess } | undefined)?.process;

/** A signal ended it, or its command, or has been sent to it: the child itself can't tell. */
export const endsUntold = (child: ChildProcess | undefined): boolean =>
  !!child &&
  (child.exitCode === null ? child.signalCode !== null || child.killed : child.exitCode > shellBase);

const mostKept = 40;
const mostChildren = 100;
const longestText = 4096;
const { now } = Date;

export class ProcessEvents {
  readonly children = new Set<Child>();
  /** Set by the flight recorder. */
  onEvent: ((event: ProcessEvent) => void) | undefined;
  readonly #kept: ProcessEvent[] = [];

  /** The newest, without those of children. */
  get kept(): readonly ProcessEvent[] {
    return this.#kept;
  }

  add(
    event: ProcessEvent extends infer One ? (One extends ProcessEvent ? Omit<One, 'at'> : never) : never,
  ): void {
    const dated = { at: now(), ...event } as ProcessEvent;
    if (dated.kind === 'childStart') this.#addChild(dated.payload);
    else if (dated.kind !== 'childEnd') {
      this.#kept.push(dated);
      if (this.#kept.length > mostKept) this.#kept.shift();
    }
    this.onEvent?.(dated);
  }

  /** When full, a child that ended well is removed first, then the oldest. */
  #addChild(child: Child): void {
    this.children.add(child);
    if (this.children.size <= mostChildren) return;
    const all = [...this.children];
    const [oldest] = all;
    const dispensable = all.find(({ exitCode }) => exitCode === 0) ?? oldest;
    if (dispensable) this.children.delete(dispensable);
  }
}

/** Describes an error that ended nothing. The only code of the host that may run is a formatter of stacks. */
export function describeHandled(value: unknown, origin: string): HandledErrorPayload {
  return describe(value, origin, findField(value, 'stack'));
}

function describe(value: unknown, origin: string, stack: unknown): HandledErrorPayload {
  const [name, message, code] = ['name', 'message', 'code'].map((field) => findField(value, field));
  const isObject = typeof value === 'object' && value !== null;
  const payload: HandledErrorPayload = {
    message:
      textOf(message) ?? (isObject ? 'an object without a message' : String(value).slice(0, longestText)),
    origin,
  };
  if (typeof name === 'string') payload.name = name.slice(0, 200);
  if (typeof code === 'string' || typeof code === 'number') payload.code = code;
  if (typeof stack === 'string') payload.stack = stack.slice(0, longestText);
  return payload;
}

/** Nothing else reads the stack of a warning: if the host has a formatter of its own, it would run only because of us. */
export function describeWarning(value: unknown): WarningPayload {
  const seen = hasFormatter() ? undefined : findField(value, 'stack');
  const { name = 'Warning', message, code, stack } = describe(value, '', seen);
  return {
    name,
    message,
    ...(code !== undefined && { code: String(code) }),
    ...(stack !== undefined && { stack }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, longestText) : undefined;
}
