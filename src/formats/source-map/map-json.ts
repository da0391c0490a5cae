/**
 * The JSON of a source map: validates it and extracts the fields that lookups need. Accepts the variants that tools write in
 * practice (XSSI prefix, byte order mark, a version in quotes, no names, null sources, nested index maps, a whole data: URL).
 * Opens none of the files that the map names. Source: ECMA-426, https://tc39.es/ecma426/#sec-source-map-format.
 */
import { AgentdumpError, MalformedInput } from '../../errors.ts';
import { readDataUrl } from './data-url.ts';
import { joinSourceRoot } from './source-path.ts';

/** A map, or a section of an index map. A section covers the generated text from its offset to that of the next section. */
export interface MapSection {
  /** 0-based. */
  offsetLine: number;
  offsetColumn: number;
  mappings: string;
  /** With sourceRoot prepended and dots resolved; empty for a source without a name. */
  sources: string[];
  /** The same sources as spelled in the file. */
  writtenSources: string[];
  /** By source index. */
  contents: (string | undefined)[];
  names: string[];
}

export interface MapFields {
  /** In offset order; exactly one unless it is an index map. */
  sections: MapSection[];
  debugId?: string;
  /** Number of sections that are links to other files, which are never opened. */
  linkedSections: number;
}

const largestMapBytes = 256 * 1024 * 1024;
const deepestIndex = 8;
const mostSections = 100_000;

type Json = Record<string, unknown>;

/** Throws MalformedInput if it is not a source map of version 3, and `over-limit` for more than largestMapBytes. */
export function readMapJson(bytes: Uint8Array | string): MapFields {
  const text = textOf(bytes);
  const map = parse(text.startsWith('data:') ? textOf(readDataUrl(text)) : text);
  const debugId = map['debugId'] ?? map['debug_id'];
  const flat = flatten(map);
  return { ...flat, ...(typeof debugId === 'string' ? { debugId } : {}) };
}

function textOf(bytes: Uint8Array | string): string {
  if (bytes.length > largestMapBytes)
    throw new AgentdumpError('over-limit', `source map: ${bytes.length} bytes are more than the limit`, {
      limit: 'source map',
      wanted: bytes.length,
      allowed: largestMapBytes,
    });
  const text =
    typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return text.replace(/^\uFEFF/, '').replace(/^\)\]\}'?[^\n]*\n/, '');
}

function parse(text: string): Json {
  try {
    return requireObject(JSON.parse(text), 'map');
  } catch (cause) {
    if (cause instanceof MalformedInput) throw cause;
    throw malformed('map', 'JSON', cause instanceof Error ? cause.message : 'something else', cause);
  }
}

/** Index maps may be nested; their offsets add up. Iterative, because the input determines the depth. */
function flatten(root: Json): Omit<MapFields, 'debugId'> {
  const sections: MapSection[] = [];
  let linkedSections = 0;
  const queue = [{ map: root, line: 0, column: 0, depth: 0 }];
  for (let item = queue.pop(); item; item = queue.pop()) {
    const nested = item.map['sections'];
    if (nested === undefined || nested === null) {
      sections.push(readSection(item.map, item.line, item.column));
      continue;
    }
    const list = requireArray(nested, 'sections');
    if (item.depth >= deepestIndex || list.length + queue.length > mostSections)
      throw malformed('sections', `at most ${mostSections} of them, ${deepestIndex} deep`, 'more');
    for (const entry of list) {
      const section = requireObject(entry, 'sections');
      if (section['map'] === undefined) {
        linkedSections++;
        continue;
      }
      const offset = requireObject(section['offset'], 'offset');
      const line = requireCount(offset['line'], 'offset.line');
      const column = requireCount(offset['column'], 'offset.column');
      queue.push({
        map: requireObject(section['map'], 'sections.map'),
        line: item.line + line,
        column: line === 0 ? item.column + column : column,
        depth: item.depth + 1,
      });
    }
  }
  sections.sort((a, b) => a.offsetLine - b.offsetLine || a.offsetColumn - b.offsetColumn);
  return { sections, linkedSections };
}

function readSection(map: Json, offsetLine: number, offsetColumn: number): MapSection {
  // biome-ignore lint/suspicious/noDoubleEquals: some tools write the version as a string
  if (map['version'] != 3 || typeof map['version'] === 'object')
    throw malformed('version', '3', describe(map['version']));
  if (typeof map['mappings'] !== 'string') throw malformed('mappings', 'a string', describe(map['mappings']));
  const root = typeof map['sourceRoot'] === 'string' ? map['sourceRoot'] : '';
  const writtenSources = requireArray(map['sources'], 'sources').map(nameOf);
  const sources = writtenSources.map((name) => (name === '' ? '' : joinSourceRoot(root, name)));
  const contents = optionalArray(map['sourcesContent'], 'sourcesContent').map((text) =>
    typeof text === 'string' ? text : undefined,
  );
  const names = optionalArray(map['names'], 'names').map(nameOf);
  return { offsetLine, offsetColumn, mappings: map['mappings'], sources, writtenSources, contents, names };
}

const nameOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function requireObject(value: unknown, field: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw malformed(field, 'an object', describe(value));
}

function requireArray(value: unknown, field: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw malformed(field, 'a list', describe(value));
}

const optionalArray = (value: unknown, field: string): unknown[] =>
  value === undefined || value === null ? [] : requireArray(value, field);

function requireCount(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  throw malformed(field, 'a whole number', describe(value));
}

/** Only the type, because the value itself may be megabytes long, or too deep to print. */
const describe = (value: unknown): string =>
  typeof value === 'number'
    ? String(value)
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'a list'
        : typeof value;

function malformed(field: string, wanted: string, available: string, cause?: unknown): MalformedInput {
  return new MalformedInput(
    `source map: ${field} should be ${wanted}, is ${available}`,
    { format: 'source-map', field, wanted, available },
    cause,
  );
}
