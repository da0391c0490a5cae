/** Runs a victim and returns what a bundle would contain of its death: stacks, scripts, and parts in memory. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const preload = join(dirname(fileURLToPath(import.meta.url)), 'capture-stack.cjs');

export interface Captured {
  errors: { name: string; message: string; stack: string }[];
  /** Only with `raw`: positions as V8 passed them to Error.prepareStackTrace. */
  frames?: { functionName: string; scriptId: string; url: string; line: number; column: number }[];
  scripts: {
    scriptId: string;
    url: string;
    hash: string;
    isModule: boolean;
    sourceMapUrl?: string;
    sourcePart?: string;
    mapPart?: string;
  }[];
  parts: Map<string, Uint8Array>;
}

/**
 * `flags` are passed before the file, e.g. `--enable-source-maps`. Source maps are read from disk, as at the moment of death.
 */
export function capture(
  file: string,
  options: { raw?: boolean; flags?: string[]; node?: string } = {},
): Captured {
  const run = spawnSync(
    options.node ?? process.execPath,
    ['--require', preload, ...(options.flags ?? []), file],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { PATH: process.env['PATH'], ...(options.raw ? { CAPTURE_RAW: '1' } : {}) },
    },
  );
  const line = run.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) throw new Error(`the victim left nothing:\n${run.stderr}`);
  const { errors, frames, scripts } = JSON.parse(line);
  const parts = new Map<string, Uint8Array>();
  for (const [index, script] of scripts.entries()) {
    if (script.text === undefined) continue;
    script.sourcePart = `sources/${index}.js`;
    parts.set(script.sourcePart, Buffer.from(script.text));
    delete script.text;
    const map = readMap(script.url, script.sourceMapUrl);
    if (!map) continue;
    script.mapPart = `maps/${index}.map`;
    parts.set(script.mapPart, map);
  }
  return { errors, scripts, parts, ...(frames ? { frames } : {}) };
}

function readMap(url: string, named: string | undefined): Uint8Array | undefined {
  if (!named) return undefined;
  if (named.startsWith('data:')) return Buffer.from(named);
  return readFileSync(fileURLToPath(new URL(named, url)));
}

/** The sources for a reconstruction. */
export const sourcesOf = (captured: Captured, appRoot?: string) => ({
  scripts: captured.scripts,
  readPart: (name: string) => captured.parts.get(name),
  ...(appRoot ? { appRoot } : {}),
});

export const urlOf = (path: string): string => pathToFileURL(path).href;
