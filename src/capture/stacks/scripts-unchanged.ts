/**
 * The scripts of a program of CommonJS files that have not changed since it started, with their texts from the disk. A debugger
 * is not needed for them: when one is enabled, V8 computes the SHA-256 of each script, also of Node's own and of ours, which takes
 * 25 to 50 ms of a death. V8's count of calls, which needs nothing to be enabled, says which scripts have functions, and where each
 * one is. Undefined if anything shows that V8 may have other scripts, or other texts: modules, code that was evaluated under a name,
 * hooks that compile, a file that was changed or is not where its functions are. Then the debugger is asked.
 */

import type { Profiler } from 'node:inspector';
import type { Module } from 'node:module';
import { extname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { statSync } from '../../bundle/write/system.ts';
import { startSha256 } from '../../platform/sha256.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import { fileCompilers } from '../host/file-compilers.ts';
import type { ScriptParsed, ScriptTexts } from '../host/inspector-session.ts';
import { toUndo } from '../host/undo.ts';
import { type Stacks, scriptsOnStacks } from './scripts-on-disk.ts';

type Counted = Profiler.ScriptCoverage;

const mostFiles = 400;
const mostChars = 8 * 1024 ** 2;
/** Clocks of file systems tick less often. */
const leastAgeMs = 50;
/** An ES module that `require` has loaded, with exports of its choice. */
const isRequiredModule = /\bas\s*["']module\.exports["']/;

interface Loaded extends Stacks {
  readonly ownFile: string;
  /** As they were at the start. */
  readonly compilers?: readonly unknown[];
}

type UnchangedScripts = ScriptTexts & { isFromDisk: false; close(): void };

export function unchangedScripts(loaded: Loaded): UnchangedScripts | undefined {
  try {
    return mayCompileOtherwise(loaded) ? undefined : readAll(loaded);
  } catch {
    return undefined;
  }
}

/**
 * Another preload, a loader, or a hook of the program. If the program itself has loaded this one, its hooks may be older, and are not
 * recognized.
 */
function mayCompileOtherwise({ ownFile, compilers }: Loaded): boolean {
  const now = fileCompilers();
  if (!compilers || now.some((compiler, at) => compiler !== compilers[at])) return true;
  let isPreloaded = false;
  const words = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)];
  const hooks = words.some((word, at) => {
    const [, flag, value = words[at + 1] ?? ''] =
      /^(-r|--(?:require|import|loader|experimental-[\w-]+|enable-source-maps|build-snapshot))(?:=(.*))?$/.exec(
        word,
      ) ?? [];
    if (flag === undefined) return false;
    const isOwn = (flag === '-r' || flag === '--require') && isOwnPreload(value.replaceAll('"', ''), ownFile);
    isPreloaded ||= isOwn;
    return !isOwn;
  });
  return hooks || !isPreloaded;
}

function isOwnPreload(name: string, ownFile: string): boolean {
  if (name === 'agentdump/register' || resolve(name) === ownFile) return true;
  try {
    // Through a link, as package managers make them.
    const [one, own] = [statSync(resolve(name)), statSync(ownFile)];
    return one.ino === own.ino && one.dev === own.dev;
  } catch {
    return false;
  }
}

function readAll(loaded: Loaded): UnchangedScripts | undefined {
  const { ownFile } = loaded;
  const files = filesOfCache(ownFile);
  if (!files || hasOtherFrame(files, loaded)) return undefined;
  const counted = countedScripts(ownFile);
  if (!counted) return undefined;
  for (const path of counted.keys()) if (!files.has(path)) return undefined;
  const texts = new Map<string, string>();
  const scripts: ScriptParsed[] = [];
  let chars = 0;
  for (const path of files) {
    const seen = counted.get(path);
    const text = unchangedText(path, seen);
    chars += text?.length ?? 0;
    if (text === undefined || chars > mostChars) return undefined;
    const map = mapOf(text);
    if (map === null) return undefined;
    const url = seen?.url ?? pathToFileURL(path).href;
    const scriptId = seen?.scriptId ?? url;
    const hash = startSha256().update(text).digest('hex');
    texts.set(scriptId, text);
    scripts.push({
      scriptId,
      url,
      hash,
      isModule: false,
      length: text.length,
      ...(map !== undefined && { sourceMapURL: map }),
    });
  }
  return { isFromDisk: false, scripts, sourceOf: (id) => texts.get(id), close() {} };
}

/** Of a file that failed while it was loaded, or of code under a name: V8 counts no script without functions that were called. */
function hasOtherFrame(files: ReadonlySet<string>, { ownFile, ...stacks }: Loaded): boolean {
  return [...scriptsOnStacks(stacks)].some((url) => {
    const path = isAbsolute(url) ? url : fileURLToPath(url);
    return !files.has(path) && !path.startsWith(ownFile);
  });
}

/** Undefined if one is a module, or of a kind that Node does not run as it is. */
function filesOfCache(ownFile: string): Set<string> | undefined {
  const { _cache: cache = {} } = process.getBuiltinModule('node:module') as unknown as {
    _cache?: Record<string, Module>;
  };
  const files = new Set<string>();
  // Else a module of `import` is the main one.
  if (!Object.values(cache).some(({ id }) => id === '.')) return undefined;
  for (const [path, { exports }] of Object.entries(cache)) {
    const extension = extname(path);
    if (path === ownFile || extension === '.json' || extension === '.node') continue;
    if ((extension !== '.js' && extension !== '.cjs') || types.isModuleNamespaceObject(exports))
      return undefined;
    files.add(path);
  }
  return files.size > 0 && files.size <= mostFiles ? files : undefined;
}

/** By path. Undefined if there is one that is no file, or one that was compiled twice. */
function countedScripts(ownFile: string): Map<string, Counted> | undefined {
  const { Session } = process.getBuiltinModule('node:inspector');
  const session = new Session();
  session.connect();
  const close = toUndo(() => session.disconnect());
  let all: Counted[] | undefined;
  try {
    session.post('Profiler.getBestEffortCoverage', (error, answer) => {
      if (!error) all = answer.result;
    });
  } finally {
    close();
  }
  if (!all) return undefined;
  const own = [ownFile, pathToFileURL(ownFile).href];
  const counted = new Map<string, Counted>();
  for (const script of all) {
    const { url } = script;
    if (url === '' || /^(?:node|agentdump):/.test(url) || own.some((start) => url.startsWith(start)))
      continue;
    const path = url.startsWith('file:') ? fileURLToPath(url) : undefined;
    if (path === undefined || counted.has(path)) return undefined;
    counted.set(path, script);
  }
  return counted;
}

function unchangedText(path: string, counted: Counted | undefined): string | undefined {
  const { ctimeMs, mtimeMs, size } = statSync(path);
  if (size >= mostChars) return undefined;
  if (Math.max(ctimeMs, mtimeMs) > performance.timeOrigin - leastAgeMs) return undefined;
  const read = readSmallFile(path, mostChars);
  const text = read?.charCodeAt(0) === 0xfeff ? read.slice(1) : read;
  if (text === undefined || isRequiredModule.test(text)) return undefined;
  return counted?.functions.every((one) => isFunctionAt(text, one)) === false ? undefined : text;
}

/** V8's place of a function begins at a function of the text, and ends with one. */
function isFunctionAt(text: string, { ranges, functionName }: Profiler.FunctionCoverage): boolean {
  const { startOffset, endOffset } = ranges[0] ?? { startOffset: 0, endOffset: 0 };
  if (endOffset > text.length) return false;
  // The file as a whole.
  if (startOffset === 0 && functionName === '') return endOffset === text.length;
  if (/[\w$]/.test(text[startOffset - 1] ?? '') || !/[\w$([#*'"]/.test(text[startOffset] ?? '')) return false;
  return text[endOffset - 1] === '}' || text.slice(startOffset, endOffset).includes('=>');
}

/** As V8 reads it; null if only V8 can tell: unless it ends the file, it may be within a text. */
function mapOf(text: string): string | undefined | null {
  if (text.includes('sourceURL=')) return null;
  const at = text.lastIndexOf('sourceMappingURL=');
  if (at < 0) return undefined;
  const line = text.slice(text.lastIndexOf('\n', at) + 1, at);
  const [, url] = /^=(\S+)\s*$/.exec(text.slice(at + 'sourceMappingURL'.length)) ?? [];
  return /^\/\/[#@][ \t]$/.test(line) && url !== undefined && !/["'`]/.test(url) ? url : null;
}
