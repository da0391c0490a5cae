/**
 * One ES module imported again and again under different URLs (`import('./rules.mjs?v=2')`, `import('data:…')`): Node keeps
 * every module that was ever loaded, and nothing can remove one.
 */
import { NodeType } from '../../../formats/heapsnapshot/index.ts';
import { formatNumber } from '../../../model/quantities.ts';
import type { Heap } from '../heap.ts';
import { forEachNamed, isStringType, stringText } from '../questions/node-rows.ts';
import { tablePairs, tableSlotsOf } from '../questions/tables.ts';
import {
  isLargeShare,
  manyText,
  placeText,
  type SuspectRule,
  shareText,
  suspectAt,
} from '../suspects/suspect-context.ts';

const cacheClass = 'LoadCache';
const fewestVersions = 25;
const leastShare = 0.05;
const longestUrl = 200;

export const moduleVersionsRule: SuspectRule = {
  name: 'module-versions',
  find(context) {
    const { heap, totalBytes } = context;
    return loadCaches(heap).flatMap((cache) => {
      const [most] = [...versionsIn(heap, cache)].sort(([, a], [, b]) => b.bytes - a.bytes);
      if (!most) return [];
      const [url, { count, bytes }] = most;
      if (count < fewestVersions || !isLargeShare(context, bytes, leastShare)) return [];
      const what = url === dataUrl ? 'modules imported from data: URLs' : `versions of the module ${url}`;
      return suspectAt(context, 'module-versions', cache, bytes, {
        title: `${manyText(count, what)} are loaded`,
        sentence: `${manyText(count, what)} keep ${shareText(bytes, context)} alive in Node's cache of ES modules, ${placeText(heap, cache)}. Node never frees a loaded module: load it once, or in a worker thread that ends.`,
        confidence: 'likely',
        evidence: [
          `${formatNumber(count)} URLs that differ only in their ${url === dataUrl ? 'content' : 'query'}`,
          `retained together ${bytes} bytes of ${totalBytes}`,
        ],
        refutedBy: 'All of them are needed, and no more will be loaded.',
      });
    });
  },
};

const dataUrl = 'data:';

function loadCaches(heap: Heap): number[] {
  const { type } = heap.snapshot.nodes;
  const found: number[] = [];
  forEachNamed(heap, cacheClass, (node) => {
    if (type[node] === NodeType.object && tableSlotsOf(heap, node) === 3) found.push(node);
  });
  return found;
}

/** By URL without query and fragment, which make a module another one. */
function versionsIn(heap: Heap, cache: number): Map<string, { count: number; bytes: number }> {
  const found = new Map<string, { count: number; bytes: number }>();
  for (const { key, value } of tablePairs(heap, cache)) {
    if (key === undefined || value === undefined || !isStringType(heap.snapshot.nodes.type[key]!)) continue;
    const text = stringText(heap, key, longestUrl);
    const url = text.startsWith(dataUrl) ? dataUrl : text.replace(/[?#].*/s, '');
    const versions = found.get(url) ?? { count: 0, bytes: 0 };
    versions.count++;
    versions.bytes += heap.retained[value]!;
    found.set(url, versions);
  }
  return found;
}
