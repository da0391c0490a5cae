/**
 * Maps positions of generated code to positions of the sources with one source map. The caller must determine whether the map
 * belongs to the code that ran. Opens no file. The npm package `source-map` decodes maps of everyday size. Larger ones are
 * decoded by mappings-scan.ts to limit memory: for 20 MB of the shortest mappings the package takes 474 MB, the scan 112.
 * Their speed is similar (`npm run bench:source-map`). In the tests, each is the other's oracle.
 */
import { type MapSection, readMapJson } from './map-json.ts';
import { MappingsScan } from './mappings-scan.ts';
import { openPackageLookup } from './package-lookup.ts';
import type { SegmentLookup } from './segment.ts';

/** Lines and columns are 1-based; columns count UTF-16 units, as in V8. */
export interface OriginalPosition {
  source: string;
  line: number;
  column: number;
  /** The name in the source of the token at this position. */
  name?: string;
}

export interface SourceMapReader {
  /** All sources, with the names that `findOriginal` returns. */
  readonly sources: readonly string[];
  /** Associates the map with its generated text, if the bundler wrote it into both. */
  readonly debugId?: string;
  /**
   * Number of generated lines up to the last one with a mapping. A generated text with fewer lines does not belong to this
   * map.
   */
  readonly mappedLines: number;
  /** Number of sections of an index map that were links to other files; positions in them are not found. */
  readonly linkedSections: number;
  /** Undefined if the map has no mapping for the position, or states that it has no source. */
  findOriginal(line: number, column: number): OriginalPosition | undefined;
  sourceContent(source: string): string | undefined;
  /** The name of a source as spelled in the map, before sourceRoot and dots are resolved. */
  writtenName(source: string): string | undefined;
  /** Must be called after the last lookup. */
  close(): void;
}

export interface SourceMapOptions {
  /** Forces one of the decoders. Default: depends on the size of the map. */
  decoder?: 'package' | 'scan';
}

/** Above these limits the package's memory, and its parsing of every source as a URL, are too expensive. */
const packageMappingsChars = 1024 * 1024;
const packageListLength = 2000;

interface OpenSection extends MapSection {
  lookup: SegmentLookup;
}

/**
 * Opens a map: its JSON as text or bytes, possibly with an XSSI prefix, or a `data:` URL that contains it. Throws
 * MalformedInput or `over-limit`.
 */
export async function openSourceMap(
  bytes: Uint8Array | string,
  options: SourceMapOptions = {},
): Promise<SourceMapReader> {
  const fields = readMapJson(bytes);
  const sections: OpenSection[] = [];
  try {
    for (const section of fields.sections)
      sections.push({ ...section, lookup: await openLookup(section, fields.sections.length, options) });
  } catch (error) {
    for (const { lookup } of sections) lookup.close();
    throw error;
  }
  return {
    sources: [...new Set(sections.flatMap((section) => section.sources))].filter((name) => name !== ''),
    ...(fields.debugId === undefined ? {} : { debugId: fields.debugId }),
    mappedLines: sections.reduce((last, section) => Math.max(last, lastMappedLine(section)), 0),
    linkedSections: fields.linkedSections,
    findOriginal: (line, column) => findOriginal(sections, line, column),
    sourceContent: (source) => findOfSource(sections, source, ({ contents }) => contents),
    writtenName: (source) => findOfSource(sections, source, ({ writtenSources }) => writtenSources),
    close: () => {
      for (const { lookup } of sections) lookup.close();
    },
  };
}

function openLookup(
  section: MapSection,
  sectionCount: number,
  options: SourceMapOptions,
): Promise<SegmentLookup> | SegmentLookup {
  const { mappings, sources, names } = section;
  const lists = sources.length + names.length;
  const isSmall = mappings.length <= packageMappingsChars && lists <= packageListLength && sectionCount === 1;
  const decoder = options.decoder ?? (isSmall ? 'package' : 'scan');
  return decoder === 'scan'
    ? new MappingsScan(mappings)
    : openPackageLookup(mappings, sources.length, names.length);
}

function findOriginal(sections: OpenSection[], line: number, column: number): OriginalPosition | undefined {
  if (!(line >= 1 && column >= 1)) return undefined;
  const section = sectionAt(sections, line - 1, column - 1);
  if (!section) return undefined;
  const sectionLine = line - 1 - section.offsetLine;
  const sectionColumn = column - 1 - (sectionLine === 0 ? section.offsetColumn : 0);
  const found = section.lookup.find(sectionLine, sectionColumn);
  const source = found && section.sources[found.source];
  if (!found || !source) return undefined;
  const name = found.name === undefined ? undefined : section.names[found.name];
  return { source, line: found.line + 1, column: found.column + 1, ...(name ? { name } : {}) };
}

/** The last section that begins at or before a 0-based position. */
function sectionAt(sections: OpenSection[], line: number, column: number): OpenSection | undefined {
  let low = 0;
  let high = sections.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { offsetLine, offsetColumn } = sections[middle] as OpenSection;
    if (offsetLine < line || (offsetLine === line && offsetColumn <= column)) low = middle + 1;
    else high = middle;
  }
  return sections[low - 1];
}

/** The first value that a section's list has at the index of a source. */
function findOfSource(
  sections: OpenSection[],
  source: string,
  listOf: (section: OpenSection) => (string | undefined)[],
): string | undefined {
  for (const section of sections) {
    const found = listOf(section)[section.sources.indexOf(source)];
    if (found !== undefined) return found;
  }
  return undefined;
}

function lastMappedLine(section: MapSection): number {
  const { mappings, offsetLine } = section;
  let end = mappings.length;
  while (end > 0 && (mappings[end - 1] === ';' || mappings[end - 1] === ',')) end--;
  if (end === 0) return 0;
  let lines = 1;
  for (let at = mappings.indexOf(';'); at >= 0 && at < end; at = mappings.indexOf(';', at + 1)) lines++;
  return offsetLine + lines;
}
