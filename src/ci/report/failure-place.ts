/**
 * The place in the original source where a test failed or spins: its stack is mapped through the source maps inside the
 * running code or beside the files on this disk, which are those that have just run.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { reconstructStack } from '../../analysis/stacks/reconstruct.ts';
import type { LoadedScript, RawFrame } from '../../bundle/layout/bundle.ts';
import { findMapUrl } from '../../formats/source-map/data-url.ts';
import { filePathOf } from '../../formats/stack-text/location.ts';
import type { CiPlace } from '../../model/ci-summary.ts';
import { culpritFrame } from '../../model/frame-text.ts';
import type { Frame } from '../../model/thread.ts';
import { isAbsolutePath, isInstalled } from '../../platform/paths.ts';

const largestFile = 32 * 1024 * 1024;
const mostFiles = 20;

/** Undefined if the stack has no file of the program. Never rejects. */
export async function findFailurePlace(
  stackText: string | undefined,
  testFile: string | undefined,
): Promise<CiPlace | undefined> {
  if (stackText === undefined) return undefined;
  try {
    const parts = new Map<string, Uint8Array>();
    const scripts = describeFiles(filesOf(stackText), parts);
    const appRoot = process.cwd();
    const { frames } = await reconstructStack({
      stackText,
      scripts,
      readPart: (name) => parts.get(name),
      appRoot,
    });
    return placeOfFrames(frames, testFile);
  } catch {
    return undefined;
  }
}

/** The topmost frame of the program's own code, or else a frame in the test file. */
export function placeOfFrames(frames: readonly Frame[], testFile?: string): CiPlace | undefined {
  const own = culpritFrame(frames.filter((frame) => frame.inApp));
  const frame = own ?? frames.find(({ file }) => file !== undefined && file === testFile);
  if (frame?.file === undefined || frame.line === undefined) return undefined;
  const file = resolve(filePathOf(frame.file));
  return { file, line: frame.line, ...(frame.column !== undefined && { column: frame.column }) };
}

/** Maps a debugger's frames to the original source. `running` contains source texts by URL. Never rejects. */
export async function placeRunningFrames<One extends RawFrame>(
  frames: readonly One[],
  running: ReadonlyMap<string, string>,
): Promise<readonly One[]> {
  try {
    const parts = new Map<string, Uint8Array>();
    const texts = new Map([...running].map(([url, text]) => [filePathOf(url), text]));
    const files = new Set(frames.map(({ url }) => filePathOf(url)).filter(isAbsolutePath));
    const { frames: placed } = await reconstructStack({
      frames,
      scripts: describeFiles(files, parts, (path) => texts.get(path) ?? readText(path)),
      readPart: (name) => parts.get(name),
      appRoot: process.cwd(),
    });
    if (placed.length !== frames.length) return frames;
    return frames.map((frame, at) => {
      const { file = frame.url, line = frame.line, column = frame.column } = placed[at] ?? {};
      return { ...frame, url: file, line, column };
    });
  } catch {
    return frames;
  }
}

function filesOf(stackText: string): Set<string> {
  const matches = stackText.matchAll(/(?:file:\/\/)?(\/[^\s():]+\.[cm]?[jt]sx?)(?=:\d+)/g);
  return new Set([...matches].map((match) => match[1] ?? ''));
}

/** Describes the files as if they were scripts of a bundle. */
function describeFiles(
  files: ReadonlySet<string>,
  parts: Map<string, Uint8Array>,
  textOf = readText,
): LoadedScript[] {
  return [...files].slice(0, mostFiles).flatMap((path, index) => {
    if (isInstalled(path)) return [];
    const text = textOf(path);
    if (text === undefined) return [];
    const mapUrl = findMapUrl(text);
    const map =
      mapUrl === undefined || mapUrl.startsWith('data:')
        ? undefined
        : readText(resolve(dirname(path), mapUrl));
    parts.set(`sources/${index}.js`, Buffer.from(text));
    if (map !== undefined) parts.set(`maps/${index}.map`, Buffer.from(map));
    return [
      {
        scriptId: String(index),
        url: path,
        hash: '',
        isModule: true,
        sourcePart: `sources/${index}.js`,
        ...(mapUrl !== undefined && { sourceMapUrl: mapUrl.startsWith('data:') ? 'data:' : mapUrl }),
        ...(map !== undefined && { mapPart: `maps/${index}.map` }),
      },
    ];
  });
}

function readText(path: string): string | undefined {
  try {
    return statSync(path).size > largestFile ? undefined : readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
