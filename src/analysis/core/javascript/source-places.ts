/**
 * Maps the JavaScript frames of a core through source maps. The script texts come from the core, the maps from the scripts'
 * own map URLs, inline or on this disk. The reconstructor refuses maps that don't fit.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadedScript, RawFrame } from '../../../bundle/layout/bundle.ts';
import { findMapUrl, readDataUrl } from '../../../formats/source-map/data-url.ts';
import type { Script } from '../../../formats/v8/frames/script.ts';
import type { Frame } from '../../../model/thread.ts';
import type { Gap } from '../../../model/verdict.ts';
import { StackReconstructor } from '../../stacks/reconstruct.ts';
import type { V8Runtime } from './v8-runtime.ts';

const maxMapBytes = 256 << 20;
const scriptPart = 'script/';
const mapPart = 'map/';

/** Changes the frames in place. */
export async function placeThroughMaps(
  v8: V8Runtime | undefined,
  stacks: readonly { frames: Frame[] }[],
  gaps: Gap[],
): Promise<void> {
  if (!v8) return;
  const byFile = new Map<string, Script>();
  for (const script of v8.scripts.all()) if (namesMap(script)) byFile.set(script.name, script);
  const frames = stacks
    .flatMap((stack) => stack.frames)
    .filter((f) => f.file !== undefined && f.line !== undefined && byFile.has(f.file));
  if (frames.length === 0) return;
  const scripts = [...byFile.values()];
  const reconstructor = new StackReconstructor({
    scripts: scripts.map(describeScript),
    readPart: (name) => readPart(name, scripts),
  });
  try {
    const placed = await reconstructor.reconstruct({ frames: frames.map((f) => rawFrame(f, byFile)) });
    if (placed.length === frames.length)
      for (const [i, frame] of frames.entries()) Object.assign(frame, moved(placed[i]));
    gaps.push(...reconstructor.gaps);
  } finally {
    reconstructor.close();
  }
}

/** Node's own scripts have no maps. */
function namesMap({ name, source }: Script): boolean {
  return source !== undefined && !name.startsWith('node:') && findMapUrl(source) !== undefined;
}

function describeScript(script: Script): LoadedScript {
  return {
    scriptId: `${script.id}`,
    url: script.name,
    hash: '',
    isModule: script.name.startsWith('file:'),
    sourcePart: `${scriptPart}${script.id}`,
    mapPart: `${mapPart}${script.id}`,
    sourceMapUrl: findMapUrl(script.source ?? '') ?? '',
  };
}

function readPart(name: string, scripts: Script[]): Uint8Array | undefined {
  const script = scripts.find(({ id }) => name === `${scriptPart}${id}` || name === `${mapPart}${id}`);
  if (!script?.source) return undefined;
  return name.startsWith(scriptPart) ? Buffer.from(script.source) : readMap(script, script.source);
}

function readMap(script: Script, source: string): Uint8Array | undefined {
  const url = findMapUrl(source);
  if (!url) return undefined;
  if (url.startsWith('data:')) return readDataUrl(url);
  const file = script.name.startsWith('file:') ? fileURLToPath(script.name) : script.name;
  const path = resolve(dirname(file), decodeURIComponent(url));
  if (!existsSync(path) || statSync(path).size > maxMapBytes) return undefined;
  return readFileSync(path);
}

function rawFrame(frame: Frame, byFile: Map<string, Script>): RawFrame {
  return {
    functionName: frame.function ?? '',
    scriptId: `${byFile.get(frame.file ?? '')?.id ?? ''}`,
    url: frame.file ?? '',
    line: frame.line ?? 1,
    column: frame.column ?? 1,
  };
}

/** The fields that the map changed; a frame without a mapping is not changed. */
function moved(placed: Frame | undefined): Partial<Frame> {
  if (!placed?.generated) return {};
  const { file, line, column, generated, inApp, source } = placed;
  return {
    generated,
    inApp,
    ...(placed.function ? { function: placed.function } : {}),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(source ? { source } : {}),
  };
}
