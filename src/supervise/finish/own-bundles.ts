/** Bundles in the dump folder that a dead process, or a finisher before us, had written of the same session. */

import { listBundles } from '../../bundle/finished/list.ts';
import { partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { writeSequel } from '../../bundle/write/write-sequel.ts';
import type { SessionFacts } from '../../journal/layout/session.ts';

/**
 * Name of a finished bundle that bears the session's id: a finisher before us died after sealing it. An encrypted one
 * shows the id's first half only, and may lack its last parts; it is not written over.
 */
export function findSealed(dir: string, id: string): string | undefined {
  const finished = new Set(['sealed', 'packed', 'encrypted']);
  const similar = listBundles(dir).filter((one) => one.shortId === id.slice(0, 8) && finished.has(one.state));
  return similar.find((one) => one.state === 'encrypted' || idOf(one.path) === id)?.name;
}

function idOf(path: string): string {
  const bundle = openBundle(path);
  bundle.close();
  return bundle.id;
}

/** A bundle that the process itself began in its lifetime, and did not seal. */
export function findUnfinished(dir: string, facts: SessionFacts): string | undefined {
  return listBundles(dir).find(
    (bundle) =>
      bundle.state === 'partial' &&
      bundle.program === facts.program &&
      bundle.at >= facts.startedAt &&
      bundle.shortId !== facts.id.slice(0, 8),
  )?.name;
}

/** Bundles of its lifetime that it wrote in a stall or as a snapshot: it was alive a moment later, and the death is newer. */
export function lastBundleMs(dir: string, facts: SessionFacts): number {
  const own = listBundles(dir).find(
    ({ state, program, at, path }) =>
      state === 'sealed' &&
      program === facts.program &&
      at >= facts.startedAt &&
      triggerOf(path)?.pid === facts.process.pid,
  );
  return own ? Date.parse(own.at) + 1 : 0;
}

function triggerOf(path: string): TriggerPart | undefined {
  const bundle = openBundle(path);
  const trigger = bundle.readJson<TriggerPart>(partNames.trigger);
  bundle.close();
  return trigger;
}

/** Of its stalls that nobody saw end. */
export function noteDeaths(dir: string, facts: SessionFacts): void {
  for (const { state, at, path, sequel } of listBundles(dir)) {
    if (at < facts.startedAt) return;
    if (state !== 'sealed' || sequel) continue;
    const trigger = triggerOf(path);
    if (trigger?.pid === facts.process.pid && trigger.kind === 'stall')
      writeSequel(path, { event: 'died', at: new Date().toISOString() });
  }
}
