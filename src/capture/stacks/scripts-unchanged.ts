/**
 * The scripts of a program of CommonJS files that have not changed since it started, with their texts from the disk. A debugger
 * is not needed for them: when one is enabled, V8 computes the SHA-256 of each script, also of Node's own and of ours, which takes
 * 25 to 50 ms of a death. V8's count of calls, which needs nothing to be enabled, says which scripts have functions, and where each
 * one is. Undefined if anything shows that V8 may have other scripts, or other texts: modules, code that was evaluated under a name,
 * hooks that compile, a file that was changed or is not where its functions are. Then the debugger is asked.
 */
import type { Profiler } from 'node:inspector';
import type { Module } from 'node:module';
import { extname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { loadCrypto, statSync } from '../../bundle/write/system.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import type { ScriptParsed, ScriptTexts } from '../host/inspector-session.ts';

type Counted = Profiler.ScriptCoverage;

const mostFiles = 400;
const mostChars = 8 * 1024 ** 2;
/** Clocks of file systems tick less often. */
const leastAgeMs = 50;

export function unchangedScripts(
  ownFile: string,
): (ScriptTexts & { isFromDisk: false; close(): void }) | undefined {
  try {
    return mayCompileOtherwise(ownFile) ? undefined : readAll(ownFile);
  } catch {
    return undefined;
  }
}

/** Another preload, or a loader, may hook into what compiles. */
function mayCompileOtherwise(ownFile: string): boolean {
  const words = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)];
  return words.some((word, at) => {
    const [, flag, value = words[at + 1] ?? ''] =
      /^(-r|--(?:require|import|loader|experimental-[\w-]+|enable-source-maps|build-snapshot))(?:=(.*))?$/.exec(
        word,
      ) ?? [];
    if (flag === undefined) return false;
    const isFile = flag === '-r' || flag === '--require';
    return !isFile || resolve(value.replaceAll('"', '')) !== ownFile;
  });
}

function readAll(ownFile: string): (ScriptTexts & { isFromDisk: false; close(): void }) | undefined {
  const files = filesOfCache(ownFile);
  const counted = files && countedScripts(ownFile);
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
    const hash = loadCrypto().createHash('sha256').update(text).digest('hex');
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
  let all: Counted[] | undefined;
  try {
    session.post('Profiler.getBestEffortCoverage', (error, answer) => {
      if (!error) all = answer.result;
    });
  } finally {
    session.disconnect();
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
  const { ctimeMs, mtimeMs } = statSync(path);
  if (Math.max(ctimeMs, mtimeMs) > performance.timeOrigin - leastAgeMs) return undefined;
  const read = readSmallFile(path, mostChars);
  const text = read?.charCodeAt(0) === 0xfeff ? read.slice(1) : read;
  if (text === undefined || text.length === mostChars) return undefined;
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

/** As V8 reads it; null if only V8 can tell. */
function mapOf(text: string): string | undefined | null {
  if (text.includes('sourceURL=')) return null;
  const at = text.lastIndexOf('sourceMappingURL=');
  if (at < 0) return undefined;
  const line = text.slice(text.lastIndexOf('\n', at) + 1, at);
  const [, url] = /^=(\S+)[ \t\r]*(?:\n|$)/.exec(text.slice(at + 'sourceMappingURL'.length)) ?? [];
  return /^\/\/[#@][ \t]$/.test(line) && url !== undefined && !/["']/.test(url) ? url : null;
}
