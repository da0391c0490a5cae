/**
 * The state of a run: a JSON document that is changed by recorded operations (RFC 6902), so that its contents at any time can
 * be reconstructed. Works without the preload too; only the recording needs it. Values are stored by reference and must not
 * be mutated in place.
 */
import type { StateOperation } from '../../journal/layout/agent.ts';
import { applyPatch, findAtPointer, renderPointer } from '../../model/json-patch.ts';
import type { AgentScope } from '../record/scope.ts';
import { currentPlace, currentScope, findPort } from './api-scope.ts';

export interface RunState {
  /** Returns the whole document, or the value at a JSON pointer (`/plan/0`) or under a name (`plan`). */
  get(at?: string): unknown;
  /** Adds or replaces the value at a pointer or under a name. */
  set(at: string, value: unknown): void;
  remove(at: string): void;
  /** Applies all operations. If one of them can't be applied, throws a RangeError and applies none. */
  patch(operations: readonly StateOperation[]): void;
}

interface Box {
  document: unknown;
}
const outsideOfRuns: Box = { document: {} };
const boxes = new WeakMap<AgentScope, Box>();

/** Gives a new run its own empty state. */
export function openState(scope: AgentScope): void {
  boxes.set(scope, { document: {} });
}

/** Makes a scope inside of a run share the run's state. */
export function shareState(from: AgentScope, to: AgentScope): void {
  const box = boxes.get(from);
  if (box) boxes.set(to, box);
}

/** The state of the run that the calling code is in. Code outside of runs shares one state. */
export const state: RunState = {
  get: (at = '') => findAtPointer(boxOf().document, pointerOf(at)),
  set: (at, value) => change([{ op: 'add', path: pointerOf(at), value }]),
  remove: (at) => change([{ op: 'remove', path: pointerOf(at) }]),
  patch: (operations) => change(operations),
};

function change(operations: readonly StateOperation[]): void {
  const box = boxOf();
  box.document = applyPatch(box.document, operations);
  const port = findPort();
  if (!port) return;
  const { run, step, tool } = currentPlace();
  port.record(
    'state',
    { ...(run && { run }), ...(step && { step }), ...(tool && { tool }) },
    { operations: [...operations] },
  );
}

function boxOf(): Box {
  return boxes.get(currentScope()) ?? outsideOfRuns;
}

function pointerOf(at: string): string {
  return at === '' || at.startsWith('/') ? at : renderPointer([at]);
}
