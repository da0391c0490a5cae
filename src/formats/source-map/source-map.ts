/**
 * Positions of generated code → positions of the sources, through one source map. Says what the map says; whether the
 * map belongs to the code that ran is for the caller to judge. Opens no file. The npm package `source-map` decodes
 * maps of everyday size; beyond that mappings-scan.ts does, because memory must stay bounded: 20 MB of the shortest
 * mappings take the package to 474 MB, the scan to 112. In time they differ little (`npm run bench:source-map`).
 * Each is the other's oracle in the tests.
 */
import { type MapSection, readMapJson } from './map-json.ts';
import { MappingsScan } from './mappings-scan.ts';
import { openPackageLookup } from './package-lookup.ts';
import type { SegmentLookup } from './segment.ts';

/** Lines and columns are 1-based; columns count UTF-16 units, as V8 does. */
export interface OriginalPosition {
  source: string;
  line: number;
  column: number;
  /** What the source calls the token at this position. */
  name?: string;
}

export interface SourceMapReader {
  /** All sources, by the names that `findOriginal` gives. */
  readonly sources: readonly string[];
  /** Ties the map to its generated text, when the bundler wrote it into both. */
  readonly debugId?: string;
  /** Generated lines up to the last one that has a mapping: a generated text with fewer is not this map's. */
  readonly mappedLines: number;
  /** Parts of an index map that were links to other files: positions there are not found. */
  readonly linkedSections: number;
  /** Undefined where the map says nothing, or that the place comes from no source. */
  findOriginal(line: number, column: number): OriginalPosition | undefined;
  sourceContent(source: string): string | undefined;
  /** The name of a source as the map spells it, before sourceRoot and dots are resolved. */
  writtenName(source: string): string | undefined;
  /** Call it once nothing is looked up any more. */
  close(): void;
}

export interface SourceMapOptions {
  /** Forces one way of decoding; by default it goes by the size of the map. */
  decoder?: 'package' | 'scan';
}

/** Above these the package's memory, and its parsing of every source as a URL, cost more than they are worth. */
const packageMappingsChars = 1024 * 1024;
const packageListLength = 2000;

interface OpenSection extends MapSection {
  lookup: SegmentLookup;
}

/**
 * Opens a map: its JSON as text or bytes, perhaps with an XSSI prefix, or a `data:` URL that holds it.
 * Throws MalformedInput or `over-limit`.
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

/** The first thing that a section's list holds at the place of a source. */
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
