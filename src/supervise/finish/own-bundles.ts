/** Finds bundles in the dump folder that a dead process, or an earlier finisher, wrote about the same session. */

import { listBundles } from '../../bundle/finished/list.ts';
import { partNames, type TriggerPart } from '../../bundle/layout/bundle.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { readSequel } from '../../bundle/read/sequel.ts';
import { withdrawHandling, writeSequel } from '../../bundle/write/write-sequel.ts';
import type { SessionFacts } from '../../journal/layout/session.ts';

/**
 * Name of a finished bundle with the session's id, from a finisher that died after sealing it. An encrypted bundle shows only
 * the first half of its id, and may lack its last parts; it is not overwritten.
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

/** A bundle that the process itself started and did not seal. */
export function findUnfinished(dir: string, facts: SessionFacts): string | undefined {
  return listBundles(dir).find(
    (bundle) =>
      bundle.state === 'partial' &&
      bundle.program === facts.program &&
      bundle.at >= facts.startedAt &&
      bundle.shortId !== facts.id.slice(0, 8),
  )?.name;
}

/**
 * Time of the last bundle that the process wrote about a stall or as a snapshot, plus 1 ms, because the death is later. 0 if
 * there is none.
 */
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

/** The exit code, in the bundle of an exception whose handler was called and did not return. */
export function noteHandlersEnd(bundle: string, exitCode: number): void {
  if (readSequel(bundle)?.event !== 'handling') return;
  withdrawHandling(bundle);
  writeSequel(bundle, { event: 'died', at: new Date().toISOString(), exitCode });
}

/** Records the death in bundles about its stalls whose end was not recorded. */
export function noteDeaths(dir: string, facts: SessionFacts): void {
  for (const { state, at, path, sequel } of listBundles(dir)) {
    if (at < facts.startedAt) return;
    if (state !== 'sealed' || sequel) continue;
    const trigger = triggerOf(path);
    if (trigger?.pid === facts.process.pid && trigger.kind === 'stall')
      writeSequel(path, { event: 'died', at: new Date().toISOString() });
  }
}
