/** A collection that is named as a cache and has no limit that it has reached. */
import { formatNumber } from '../../../model/quantities.ts';
import { placeText, type SuspectRule, shareText, suspectAt } from '../suspects/suspect-context.ts';
import { largeCollections } from './collections.ts';

const cacheWords = /cache|memo(?!ry)|lookup/i;

/** Removes the path through Node's module cache, which says nothing about a module's exports. */
const nearestNames = (path: string): string => path.replace(/^.*\._cache\["[^"]*"\]/, '').slice(-80);

export const cachesRule: SuspectRule = {
  name: 'unbounded-cache',
  find(context) {
    return largeCollections(context)
      .map((collection) => ({ ...collection, path: placeText(context.heap, collection.node) }))
      .filter(
        ({ node, path }) =>
          cacheWords.test(nearestNames(path)) || cacheWords.test(context.heap.className(node)),
      )
      .slice(0, 4)
      .map(({ node, kind, entries, path }) => {
        const bytes = context.heap.retained[node]!;
        return suspectAt(context, 'unbounded-cache', node, bytes, {
          title: `A cache of ${formatNumber(entries)} entries holds ${shareText(bytes, context)}`,
          sentence: `The cache at ${path} (${/^[aeiou]/i.test(kind) ? 'an' : 'a'} ${kind}) has ${formatNumber(entries)} entries and keeps ${shareText(bytes, context)} alive. If it has no limit, give it one, or its entries an age.`,
          confidence: 'possible',
          evidence: [`its name says cache: ${path}`, `${entries} entries, retained size ${bytes} bytes`],
          refutedBy: 'It has a limit, and its number of entries is at that limit.',
        });
      });
  },
};
