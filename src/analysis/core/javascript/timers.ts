/** Timers that were set and had not fired: objects of Node's own class (lib/internal/timers.js). */
import { whereMapped } from '../../../bytes/memory.ts';
import type { Tagged } from '../../../formats/v8/heap/heap.ts';
import { readOwnProperties } from '../../../formats/v8/properties.ts';
import { ValueRenderer } from '../../../formats/v8/values.ts';
import type { HandleFacts } from '../../../model/account.ts';
import { placeOf } from '../../../model/frame-text.ts';
import { isInApp } from '../../stacks/in-app.ts';
import type { V8Runtime } from './v8-runtime.ts';

/** The class of what `setTimeout` and `setInterval` return. */
export const timerClass = 'Timeout';
export const maxTimers = 200_000;
const mostRows = 100;
const mostProperties = 32;

interface Timer {
  kind: string;
  detail: string;
  isOwn: boolean;
}

/** Identical timers are counted; the program's own come first, then the most frequent. */
export function describeTimers(v8: V8Runtime, objects: readonly Tagged[]): HandleFacts[] {
  const renderer = new ValueRenderer(v8.heap, v8.functions);
  const rows = new Map<string, Timer & { count: number }>();
  for (const object of objects) {
    const timer = whereMapped(() => readTimer(v8, renderer, object));
    if (!timer) continue;
    const key = `${timer.kind} ${timer.detail}`;
    const known = rows.get(key);
    if (known) known.count++;
    else rows.set(key, { ...timer, count: 1 });
  }
  return [...rows.values()]
    .sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || b.count - a.count)
    .slice(0, mostRows)
    .map(({ kind, detail, count }) => ({ kind, count, detail }));
}

/** Undefined for a timer that has fired, is being called or was cleared, and for an object of another class with this name. */
function readTimer(v8: V8Runtime, renderer: ValueRenderer, object: Tagged): Timer | undefined {
  const values = new Map(
    readOwnProperties(v8.heap, object, mostProperties).map(({ name, value }) => [name, value]),
  );
  const text = (name: string) => {
    const value = values.get(name);
    return value === undefined ? undefined : renderer.render(value);
  };
  const isInterval = text('_repeat') !== 'null';
  // Node takes a timer out of its list before calling it.
  if (!isInterval && text('_idleNext') === 'null') return undefined;
  const delay = text('_idleTimeout');
  const callback = values.get('_onTimeout');
  if (text('_destroyed') !== 'false' || callback === undefined || !/^\d+(?:\.\d+)?$/.test(delay ?? ''))
    return undefined;
  const found = v8.functions.ofClosure(callback);
  if (!found) return undefined;
  const { script, start } = found;
  const place = script && start !== undefined ? v8.scripts.findPlace(script, start) : undefined;
  const where = script && placeOf({ file: script.name, ...place });
  const name = found.name || '(anonymous)';
  return {
    kind: isInterval ? 'setInterval' : 'setTimeout',
    detail: `${name}${where ? ` (${where})` : ''}, ${isInterval ? 'every' : 'after'} ${delay} ms`,
    isOwn: script !== undefined && isInApp(script.name),
  };
}
