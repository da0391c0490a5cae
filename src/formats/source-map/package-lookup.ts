/**
 * Lookups with the npm package `source-map`, the reference implementation, for maps of everyday size. It only receives the
 * mappings, because it rewrites paths as URLs and rejects a map with a path that is not one.
 */
import { MalformedInput } from '../../errors.ts';
import type { SegmentLookup } from './segment.ts';

/**
 * Decodes the mappings. `sourceCount` and `nameCount` are the lengths of the map's lists: a mapping with a higher index is
 * treated as absent. Throws MalformedInput if the package rejects the text.
 */
export async function openPackageLookup(
  mappings: string,
  sourceCount: number,
  nameCount: number,
): Promise<SegmentLookup> {
  const { SourceMapConsumer } = await import('source-map');
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index));
  const consumer = await new SourceMapConsumer({
    version: 3,
    sources: numbered(sourceCount),
    names: numbered(nameCount),
    mappings,
  } as never);
  const find: SegmentLookup['find'] = (generatedLine, generatedColumn) => {
    const found = consumer.originalPositionFor({ line: generatedLine + 1, column: generatedColumn });
    if (found.source === null || found.line === null || found.column === null) return undefined;
    const name = found.name === null ? {} : { name: Number(found.name) };
    return { source: Number(found.source), line: found.line - 1, column: found.column, ...name };
  };
  try {
    // The package decodes at the first lookup, so this looks up a position without a mapping.
    find(0xfffffffe, 0);
  } catch (cause) {
    consumer.destroy();
    throw malformed(cause);
  }
  return { find: (line, column) => findInRange(find, line, column), close: () => consumer.destroy() };
}

/** The package throws for a mapping whose source or name is not in its list. */
function findInRange(find: SegmentLookup['find'], line: number, column: number) {
  try {
    return find(line, column);
  } catch {
    return undefined;
  }
}

function malformed(cause: unknown): MalformedInput {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MalformedInput(
    `source map: ${reason}`,
    { format: 'source-map', field: 'mappings', available: reason },
    cause,
  );
}
