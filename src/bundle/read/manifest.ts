/**
 * Reads the manifest and the progress file. Every field is checked; an invalid one is left out and reported. Throws only if
 * the whole document is unreadable.
 */
import { MalformedInput } from '../../errors.ts';
import {
  type Manifest,
  type ManifestGap,
  type ManifestHead,
  type ManifestPart,
  manifestName,
  manifestSchema,
  progressName,
} from '../layout/bundle.ts';
import { parseUntrustedJson } from './json.ts';
import { isPartName, mostFiles } from './source.ts';
import { type RawManifest, upgradeManifest } from './upgrade.ts';

export interface FoundManifest {
  manifest: Manifest;
  /** What had to be left out. */
  gaps: ManifestGap[];
}

/** Throws `malformed-input`, `over-limit` or `unsupported-version`. */
export function readManifest(bytes: Uint8Array): FoundManifest {
  const { value } = parseUntrustedJson(bytes, manifestName);
  if (!isRecord(value) || value['schema'] !== manifestSchema) throw malformed('schema');
  const raw = upgradeManifest(value);
  const head = readHead(raw);
  if (!head) throw malformed('id');
  if (!Array.isArray(raw['parts'])) throw malformed('parts');
  const gaps: ManifestGap[] = [];
  return { manifest: { ...head, ...readBody(raw, raw['parts'], gaps) }, gaps };
}

function readBody(
  raw: RawManifest,
  rawParts: unknown[],
  gaps: ManifestGap[],
): Omit<Manifest, keyof ManifestHead> {
  const parts = new Map<string, ManifestPart>();
  let broken = 0;
  for (const entry of rawParts.slice(0, mostFiles)) {
    const part = readPartEntry(entry);
    if (!part) broken++;
    else if (parts.has(part.name)) gaps.push({ part: part.name, reason: 'the manifest names it twice' });
    else parts.set(part.name, part);
  }
  if (broken)
    gaps.push({ part: manifestName, reason: `${broken} entries of its part list break the format` });
  if (rawParts.length > mostFiles)
    gaps.push({ part: manifestName, reason: `it names ${rawParts.length} parts; ${mostFiles} are read` });
  return {
    sealedAt: textOr(raw['sealedAt'], ''),
    parts: [...parts.values()],
    gaps: listOf(raw['gaps'], readGap),
    redactions: listOf(raw['redactions'], readRedaction),
    tookMs: typeof raw['tookMs'] === 'number' ? raw['tookMs'] : 0,
  };
}

export interface Progress {
  head?: ManifestHead;
  parts: Map<string, ManifestPart>;
  gaps: ManifestGap[];
  redactions: Manifest['redactions'];
}

/** Torn or unknown lines are skipped: the parts themselves are the evidence. Throws `unsupported-version`. */
export function readProgress(bytes: Uint8Array): Progress {
  const progress: Progress = { parts: new Map(), gaps: [], redactions: [] };
  for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
    const value = parseLine(line);
    if (!isRecord(value)) continue;
    takeLine(progress, value);
    if (progress.parts.size >= mostFiles) break;
  }
  return progress;
}

function takeLine(progress: Progress, line: RawManifest): void {
  const { begin, part, dropped, gap, redactions } = line;
  const head =
    isRecord(begin) && begin['schema'] === manifestSchema ? readHead(upgradeManifest(begin)) : undefined;
  if (head) progress.head = head;
  const entry = readPartEntry(part);
  if (entry) progress.parts.set(entry.name, entry);
  if (typeof dropped === 'string') progress.parts.delete(dropped);
  progress.gaps.push(...listOf([gap], readGap));
  progress.redactions.push(...listOf(redactions, readRedaction));
}

function parseLine(line: string): unknown {
  if (!line.startsWith('{')) return undefined;
  try {
    return parseUntrustedJson(Buffer.from(line), progressName).value;
  } catch {
    return undefined;
  }
}

function readHead(raw: RawManifest): ManifestHead | undefined {
  const id = raw['id'];
  if (typeof id !== 'string' || !/^[0-9a-f]{16}$/.test(id)) return undefined;
  return {
    schema: manifestSchema,
    version: Number(raw['version']),
    id,
    createdAt: textOr(raw['createdAt'], ''),
    writer: textOr(raw['writer'], ''),
    program: textOr(raw['program'], ''),
    verdictKind: textOr(raw['verdictKind'], 'unknown'),
  };
}

function readPartEntry(value: unknown): ManifestPart | undefined {
  if (!isRecord(value)) return undefined;
  const { name, bytes, sha256, complete } = value;
  if (typeof name !== 'string' || !isPartName(name)) return undefined;
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0) return undefined;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
  return { name, bytes, sha256, complete: complete === true };
}

function readGap(value: unknown): ManifestGap | undefined {
  if (!isRecord(value)) return undefined;
  const { part, reason, lookedFor } = value;
  if (typeof part !== 'string' || typeof reason !== 'string') return undefined;
  return { part, reason, ...(typeof lookedFor === 'string' && { lookedFor }) };
}

function readRedaction(value: unknown): Manifest['redactions'][number] | undefined {
  if (!isRecord(value)) return undefined;
  const { rule, part, count } = value;
  if (typeof rule !== 'string' || typeof part !== 'string' || typeof count !== 'number') return undefined;
  return { rule, part, count };
}

function listOf<T>(value: unknown, read: (entry: unknown) => T | undefined): T[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, mostFiles).flatMap((entry) => read(entry) ?? []);
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(field: string): MalformedInput {
  return new MalformedInput(`its field ${field} breaks the format`, { format: 'bundle', field });
}
