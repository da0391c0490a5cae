/**
 * Removes secrets from a source map: the sources in it are redacted in place, its paths as text. Mappings and names contain
 * no secrets and stay, so that every position remains valid and a large map costs little. Format: ECMA-426.
 */
import type { Policy } from '../../redaction/policy.ts';

type Redactor = Pick<Policy, 'text' | 'code'>;

interface RawMap {
  file?: unknown;
  sourceRoot?: unknown;
  sources?: unknown;
  sourcesContent?: unknown;
  sections?: unknown;
  [field: string]: unknown;
}

/** Returns the map as JSON. Throws if the text is not a JSON object. */
export function redactSourceMap(text: string, policy: Redactor): string {
  // The prefix against cross-site script inclusion that some servers add.
  const map = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, '')) as RawMap;
  return JSON.stringify(cleanMap(map, policy, 0));
}

function cleanMap(map: RawMap, policy: Redactor, depth: number): RawMap {
  if (typeof map !== 'object' || map === null) throw new Error('the map is no object');
  const clean: RawMap = {};
  for (const field of ['version', 'names', 'mappings', 'ignoreList', 'x_google_ignoreList', 'debugId'])
    if (map[field] !== undefined) clean[field] = map[field];
  for (const field of ['file', 'sourceRoot'])
    if (typeof map[field] === 'string') clean[field] = policy.text(map[field]);
  if (Array.isArray(map.sources)) clean.sources = eachText(map.sources, (path) => policy.text(path));
  if (Array.isArray(map.sourcesContent))
    clean.sourcesContent = eachText(map.sourcesContent, (source) => policy.code(source));
  // Sections contain maps, but no map with sections.
  if (Array.isArray(map.sections) && depth === 0)
    clean.sections = map.sections.map((section: { offset?: unknown; map?: RawMap }) => ({
      offset: section.offset,
      map: cleanMap(section.map ?? {}, policy, 1),
    }));
  return clean;
}

function eachText(list: unknown[], clean: (text: string) => string): unknown[] {
  return list.map((item) => (typeof item === 'string' ? clean(item) : null));
}
