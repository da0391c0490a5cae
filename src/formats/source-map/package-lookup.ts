/**
 * Lookups by the npm package `source-map`, the reference for maps of everyday size. It gets only the mappings: paths
 * stay with us, because the package rewrites them as URLs and refuses a map for one that is none.
 */
import { MalformedInput } from '../../errors.ts';
import type { SegmentLookup } from './segment.ts';

/**
 * Decodes the mappings. `sourceCount` and `nameCount` are the lengths of the map's lists: a mapping beyond them is
 * found as undefined. Throws MalformedInput when the package refuses the text.
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
    // The package decodes at the first question, so one is asked that no mapping answers.
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
