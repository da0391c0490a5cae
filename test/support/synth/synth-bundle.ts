/**
 * Builds bundles byte by byte as FORMAT.md describes them. Restates the layout instead of importing it, so that reader and
 * test can't share a mistake.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface SynthBundle {
  /** Contents by part name. Objects become JSON. */
  parts?: Record<string, unknown>;
  /** Overrides fields of the manifest. */
  manifest?: Record<string, unknown>;
  /** Replaces the manifest. */
  manifestText?: string;
  /** Writes a progress file instead of the manifest. */
  isPartial?: boolean;
  id?: string;
  name?: string;
}

export const synthId = '0123456789abcdef';
export const synthStem = '20261121T030405.678Z-demo-uncaught-exception-01234567';

export const synthTrigger = {
  id: synthId,
  kind: 'uncaught-exception',
  verdictKind: 'uncaught-exception',
  at: '2026-11-21T03:04:05.678Z',
  program: 'demo',
  pid: 42,
  threadId: 0,
  isMainThread: true,
  nodeVersion: 'v24.0.0',
  handledByHost: false,
};

export function asBytes(content: unknown): Buffer {
  if (Buffer.isBuffer(content)) return content;
  return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
}

export function synthParts(bundle: SynthBundle): Map<string, Buffer> {
  const parts = bundle.parts ?? { 'trigger.json': synthTrigger };
  return new Map(Object.entries(parts).map(([name, content]) => [name, asBytes(content)]));
}

export function synthEntry(name: string, bytes: Buffer): Record<string, unknown> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { name, bytes: bytes.length, sha256, complete: true };
}

export function synthManifest(bundle: SynthBundle): Record<string, unknown> {
  return {
    schema: 'agentdump.bundle',
    version: 1,
    id: bundle.id ?? synthId,
    createdAt: '2026-11-21T03:04:05.678Z',
    sealedAt: '2026-11-21T03:04:05.700Z',
    writer: '0.1.0',
    program: 'demo',
    verdictKind: 'uncaught-exception',
    parts: [...synthParts(bundle)].map(([name, bytes]) => synthEntry(name, bytes)),
    gaps: [],
    redactions: [],
    tookMs: 22,
    ...bundle.manifest,
  };
}

/** All files of the bundle, including the manifest or the progress file. */
export function synthFiles(bundle: SynthBundle = {}): Map<string, Buffer> {
  const files = synthParts(bundle);
  const manifest = synthManifest(bundle);
  if (bundle.isPartial) files.set('progress.jsonl', Buffer.from(synthProgress(manifest)));
  else files.set('manifest.json', Buffer.from(bundle.manifestText ?? JSON.stringify(manifest)));
  return files;
}

function synthProgress(manifest: Record<string, unknown>): string {
  const { parts, gaps, redactions, sealedAt, tookMs, ...head } = manifest;
  const lines: unknown[] = [{ begin: head }];
  for (const part of parts as unknown[]) lines.push({ part });
  for (const gap of gaps as unknown[]) lines.push({ gap });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Writes the folder below `dir` and returns its path. */
export function writeSynthBundle(dir: string, bundle: SynthBundle = {}): string {
  const suffix = bundle.isPartial ? '.agentdump.partial' : '.agentdump';
  const path = join(dir, bundle.name ?? synthStem + suffix);
  mkdirSync(path, { recursive: true });
  for (const [name, bytes] of synthFiles(bundle)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), bytes);
  }
  return path;
}
