/**
 * The scripts of a program whose heap is too large to be scanned: V8 visits all objects when a debugger is enabled, which
 * takes 0.2 s at 800 MB. Instead the scripts are those of require.cache and of the stack, with the current contents of their
 * files.
 */
import type { Module } from 'node:module';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { statSync } from '../../bundle/write/system.ts';
import { isInstalled } from '../../platform/paths.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import type { ScriptParsed, ScriptTexts } from '../host/inspector-session.ts';
import { scriptPathsIn } from './named-scripts.ts';
import type { FramePlaces } from './script-excerpt.ts';

export interface Stacks {
  readonly stackTexts: readonly string[];
  readonly framePlaces: FramePlaces;
}

const mostUsedBytes = 200 * 1024 ** 2;
const longestText = 16 * 1024 ** 2;
const mapComment = /\/\/[#@]\s*sourceMappingURL=(\S+)\s*$/;

/** Whether the heap is small enough. */
export function mayLookAtAll(): boolean {
  return process.getBuiltinModule('node:v8').getHeapStatistics().used_heap_size <= mostUsedBytes;
}

/** As URLs or paths. */
export function scriptsOnStacks({ stackTexts, framePlaces }: Stacks): Set<string> {
  return new Set([...framePlaces.keys(), ...scriptPathsIn(stackTexts.join('\n'))].filter(isFile));
}

export function scriptsOnDisk({
  stackTexts,
  framePlaces,
}: Stacks): ScriptTexts & { isFromDisk: true; close(): void } {
  const { _cache: cache = {} } = process.getBuiltinModule('node:module') as unknown as {
    _cache?: Record<string, Module>;
  };
  const stacked = scriptsOnStacks({ stackTexts, framePlaces });
  const urls = [...new Set([...Object.keys(cache), ...stacked])];
  const sourceOf = (url: string): string | undefined => {
    const text = readSmallFile(isAbsolute(url) ? url : fileURLToPath(url), longestText);
    return text === undefined || text.length === longestText ? undefined : text;
  };
  const scripts = urls.map((url): ScriptParsed => {
    const map = stacked.has(url)
      ? mapComment.exec(sourceOf(url)?.slice(-longestComment) ?? '')?.[1]
      : undefined;
    const isModule = url.startsWith('file:');
    return { scriptId: url, url, hash: '', isModule, ...(map !== undefined && { sourceMapURL: map }) };
  });
  return { isFromDisk: true, scripts, sourceOf, close() {} };
}

/**
 * With the program's files on the stacks that this thread has not loaded: an error may come from a worker, or from the thread of the module
 * hooks. Only those that have not changed since the process started. With source maps a stack may name files that were never loaded.
 */
export function withOtherThreads<Scripts extends ScriptTexts>(self: Scripts, stacks: Stacks): Scripts {
  const known = new Set(self.scripts.map(({ url }) => pathOf(url)));
  const isMapped = self.scripts.some(({ url, sourceMapURL }) => sourceMapURL && !isInstalled(url));
  const urls = isMapped
    ? []
    : [...scriptsOnStacks(stacks)].filter((url) => !known.has(pathOf(url)) && isOwnAndOld(url));
  if (urls.length === 0) return self;
  return {
    ...self,
    scripts: [
      ...self.scripts,
      ...urls.map((url) => ({ scriptId: url, url, hash: '', isModule: url.startsWith('file:') })),
    ],
    sourceOf: (id) => (urls.includes(id) ? readSmallFile(pathOf(id), longestText) : self.sourceOf(id)),
  };
}

const pathOf = (url: string): string => (url.startsWith('file:') ? fileURLToPath(url) : url);

function isOwnAndOld(url: string): boolean {
  try {
    const startedMs = Date.now() - process.uptime() * 1000;
    return !isInstalled(url) && /\.[cm]?js$/.test(url) && statSync(pathOf(url)).mtimeMs < startedMs;
  } catch {
    return false;
  }
}

const longestComment = 4 * 1024 ** 2;

function isFile(url: string): boolean {
  return isAbsolute(url) || url.startsWith('file:');
}
