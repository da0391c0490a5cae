/**
 * `scripts.json`: every loaded script as V8 lists it. For those on a stack, and those that are searched for without one, also
 * the running text (`sources/<n>.txt`), its source map (`maps/<n>.map`) and, if the map contains no sources, the original
 * files. Files may have changed since they were loaded: the running text is V8's own; a map from disk is checked by the
 * analysis.
 */
import { isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type LoadedScript,
  mapPartPrefix,
  partNames,
  type ScriptsPart,
  sourcePartPrefix,
} from '../../bundle/layout/bundle.ts';
import { outermostCall, outermostPackage, startersOf } from '../../bundle/layout/operations.ts';
import { workerMemoryCode } from '../../bundle/layout/verdict-codes.ts';
import { lastName } from '../../platform/paths.ts';
import { readSmallFile } from '../../platform/small-file.ts';
import { redactText } from '../fatal-path/canary.ts';
import { openSelfDebugger, type ScriptParsed, type ScriptTexts } from '../host/inspector-session.ts';
import { findEmitter } from '../host/read-emitter.ts';
import { findField } from '../host/read-field.ts';
import { currentPolicy } from '../install/policy.ts';
import { logStreams } from '../recording/log-tap.ts';
import { placesOfHandlers } from '../stacks/function-places.ts';
import { hasOwnFrame, scriptNamesIn } from '../stacks/named-scripts.ts';
import {
  addFrames,
  excerpt,
  type FramePlaces,
  placesOf,
  type ScriptPlace,
  thinMap,
} from '../stacks/script-excerpt.ts';
import { mayLookAtAll, scriptsOnDisk, withOtherThreads } from '../stacks/scripts-on-disk.ts';
import { unchangedScripts } from '../stacks/scripts-unchanged.ts';
import { wordsOfThrown } from '../stacks/thrown-words.ts';
import type { CaptureContext, PartProducer } from './part.ts';
import { withWorkers } from './threads/worker-stacks.ts';

const maxScriptsWithText = 40;
/** Of texts and maps together; beyond that only the surroundings of the stack are kept. */
const maxWholeChars = 256 * 1024;
const maxTextChars = 16 * 1024 * 1024;
const maxMapBytes = 64 * 1024 * 1024;
const maxOriginalBytes = 1024 * 1024;
const maxOriginalsPerMap = 8;
const maxMapsSearched = 50;
const maxSoughtScripts = 8;
const printedChars = 16 * 1024;

export const scriptsPart: PartProducer = {
  name: partNames.scripts,
  isRedacted: true,
  // A large bundle has a large map, without which the whole stack refers to generated code.
  limitMs: ({ timeLeftMs }) => timeLeftMs(),
  produce(context): ScriptsPart {
    if (!context.mayDebug) throw new Error('the heap was too full for a debugger, which this needs');
    context.stackTexts.push(...printedStacks(context));
    const own = mayLookAtAll() ? (unchangedScripts(context) ?? openSelfDebugger()) : scriptsOnDisk(context);
    const self = withOtherThreads(withWorkers(own, context), context);
    if (self.isFromDisk) context.addGap(partNames.scripts, fromDisk);
    try {
      const sought = soughtFor(context);
      // The stack of a client's error often ends in its package; the place where the program aborted the call does not.
      const aborted = context.thrown && context.recording?.recorder.lastAbortStack;
      if (aborted !== undefined) context.stackTexts.push(aborted);
      const handlers = placesOfHandlers(context.handlers, self);
      addFrames(
        context.framePlaces,
        handlers.filter(({ url }) => !url.includes('/node_modules/')),
      );
      const scripts = withCleanUrls(describeScripts(self, context, sought));
      // Modules that are only on the disk were not looked at.
      if (self.isFromDisk) for (const script of scripts) delete script.isSought;
      return { scripts, ...(handlers.length > 0 && { handlers: withCleanUrls(handlers) }) };
    } finally {
      self.close();
    }
  },
};

const fromDisk =
  'the heap was too large for a debugger in the time of a death: the scripts are those of require.cache and of the stack, as they are on the disk';

/** A program that ends itself because of an error may have printed its stack. */
function printedStacks({ trigger, logs }: CaptureContext): string[] {
  if (trigger.kind !== 'exit' || !logs) return [];
  return logStreams.map((stream) => logs.tails[stream].pieces.join('').slice(-printedChars));
}

/** Scripts of the program that may be the cause, although they are on no stack. */
interface Sought {
  text: RegExp;
  /** If scripts contain this as it is, only those are meant. */
  whole?: string;
  /** For installed packages, where `text` would match too many. */
  ofPackages?: RegExp;
  modulesOnly?: true;
  /** Sought besides, in every script of the program. */
  besides?: RegExp;
}

/** Code that is not indented is outside of functions. */
const awaitAtMargin = /^(?:(?:export\s+)?(?:const|let|var)\s[^=\n]*=\s*)?(?:await\b|for\s+await\b)/m;

const timeLimit = /\bAbortSignal\s*\.\s*timeout\b/;

/**
 * V8 does not report which await did not settle or passed on an error that was made elsewhere, who set a time limit, or where a value
 * that is no error, or an error of Node, was thrown, or which call failed later: the analysis searches for the possible ones.
 */
function soughtFor({ trigger, stackTexts, thrown, recording }: CaptureContext): Sought | undefined {
  const words = thrown && wordsOfThrown(thrown.value);
  if (words) return words;
  const isOfModule = trigger.kind === 'uncaught-exception' && trigger.origin === 'unhandledRejection';
  const isByLimit = thrown && recording?.recorder.lastAbortStack?.includes('node:internal/abort_controller');
  const hasTimedOut =
    isByLimit || stackTexts.some((text) => /^(?:DOMException \[)?TimeoutError\b/.test(text));
  if (trigger.kind === 'pending-exit' || (isOfModule && !stackTexts.some(hasOwnFrame)))
    return {
      text: /\bawait\b/,
      ofPackages: awaitAtMargin,
      modulesOnly: true,
      ...(hasTimedOut && { besides: timeLimit }),
    };
  if (hasTimedOut) return { text: timeLimit };
  if (thrown && findField(thrown.value, 'code') === workerMemoryCode) return { text: /\bworker_threads\b/ };
  return thrown && !stackTexts.some(hasOwnFrame) ? callsOf(thrown.value) : undefined;
}

/** Scripts that may start the operation that failed, or throw an error that Node made for a callback. */
function callsOf(thrown: unknown): Sought {
  const text = (name: string) => {
    const value = findField(thrown, name);
    return typeof value === 'string' ? value : undefined;
  };
  const starters = startersOf({
    syscall: text('syscall'),
    code: text('code'),
    message: text('message'),
    stack: text('stack'),
    emitter: findEmitter(thrown)?.className,
  });
  const stack = text('stack') ?? '';
  const called = outermostCall(stack) ?? [];
  const names = [...starters.map(({ name }) => name), called].flat().join('|');
  const throwing = String.raw`\bthrow\s+(?!new\b)`;
  const ofPackage = outermostPackage(stack)?.replace(/\W/g, String.raw`\$&`);
  const using = ofPackage === undefined ? '' : `|['"]${ofPackage}['"/]`;
  return { text: new RegExp((names ? String.raw`${throwing}|\b(?:${names})\s*\(` : throwing) + using) };
}

/** What describing scripts needs from a capture, and adds to it. */
export type ScriptsContext = Pick<
  CaptureContext,
  'ownFile' | 'stackTexts' | 'framePlaces' | 'scriptUrls' | 'writeCode' | 'writeSourceMap'
>;

/** The scripts as listed by `self`; the texts and maps of those on the stack, and of those that are sought, become parts. */
export function describeScripts(self: ScriptTexts, context: ScriptsContext, sought?: Sought): LoadedScript[] {
  const stackText = context.stackTexts.join('\n');
  const onStack = (script: ScriptParsed): boolean => isOnStack(script.url, stackText, context.framePlaces);
  const own = isAbsolute(context.ownFile) ? pathToFileURL(context.ownFile).href : context.ownFile;
  const scripts = self.scripts.filter(
    ({ url }) => isProgramText(url) && !url.startsWith(context.ownFile) && !url.startsWith(own),
  );
  const others = findHiddenByMapping(scripts, stackText);
  // Of a linked package, whose path has no node_modules.
  const folder = own.slice(0, own.lastIndexOf('/') + 1);
  const theirs = scripts.filter(({ url }) => !url.startsWith(folder));
  const searched = new Set(sought && findSought(theirs, self, sought));
  for (const script of searched) others.add(script);
  let withText = 0;
  const kept: Kept = { stackText, wholeChars: 0 };
  return scripts.map((script) => {
    context.scriptUrls.push(script.url);
    const described = describe(script);
    if (searched.has(script)) described.isSought = true;
    if (!onStack(script) && !others.has(script)) return described;
    if (++withText > maxScriptsWithText) return described;
    return keepText(self, script, described, context, kept, withText);
  });
}

/** One pass over all of them: hundreds of short texts would cost ten times as much (measured with 300 scripts). */
function withCleanUrls<Script extends Pick<LoadedScript, 'url' | 'sourceMapUrl' | 'mapGap'>>(
  scripts: Script[],
): Script[] {
  // A program that fails at its first module has none, and a split of no text gives one line.
  if (scripts.length === 0) return [];
  const urls = scripts.flatMap(({ url, sourceMapUrl, mapGap }) => [url, sourceMapUrl ?? '', mapGap ?? '']);
  const lines = urls.map((url) => url.replaceAll('\n', ' ')).join('\n');
  const clean = redactText(lines, (text) => currentPolicy().text(text)).split('\n');
  if (clean.length !== urls.length) throw new Error('the redactor changed the number of lines');
  return scripts.map((script, i) => {
    const [url = '', sourceMapUrl = '', mapGap = ''] = clean.slice(i * 3);
    return { ...script, url, ...(sourceMapUrl ? { sourceMapUrl } : {}), ...(mapGap ? { mapGap } : {}) };
  });
}

/** Node's own modules are identified by its version; evaluated code without a name can't be looked up. */
function isProgramText(url: string): boolean {
  return url !== '' && !url.startsWith('node:') && !url.startsWith('agentdump:');
}

function isOnStack(url: string, stackText: string, framePlaces: FramePlaces): boolean {
  if (framePlaces.has(url) || stackText.includes(url)) return true;
  const path = pathOf(url);
  return path !== undefined && (framePlaces.has(path) || stackText.includes(path));
}

/**
 * With --enable-source-maps, tsx and similar the stack names only the originals. Then those scripts of the program are kept
 * whose maps name a file that is on the stack, but not itself a loaded script.
 */
function findHiddenByMapping(scripts: ScriptParsed[], stackText: string): Set<ScriptParsed> {
  const loaded = new Set(scripts.map(({ url }) => lastName(pathOf(url) ?? '')));
  const named = new Set(scriptNamesIn(stackText));
  const originals = [...named].filter((name) => !loaded.has(name));
  const candidates = scripts.filter(
    ({ url, sourceMapURL }) => sourceMapURL && !url.includes('/node_modules/'),
  );
  if (originals.length === 0) return new Set();
  return new Set(candidates.slice(0, maxMapsSearched).filter((script) => mapNames(script, originals)));
}

/** All or none, so that a single match is known to be the only one. */
function findSought(scripts: ScriptParsed[], self: ScriptTexts, sought: Sought): ScriptParsed[] {
  const found: ScriptParsed[] = [];
  const whole: ScriptParsed[] = [];
  for (const script of scripts) {
    const isOfPackage = script.url.includes('/node_modules/');
    const patterns = [
      sought.modulesOnly && !script.isModule ? undefined : isOfPackage ? sought.ofPackages : sought.text,
      isOfPackage ? undefined : sought.besides,
    ].filter((pattern) => pattern !== undefined);
    if (patterns.length === 0) continue;
    const text = self.sourceOf(script.scriptId);
    if (text === undefined) return [];
    if (!patterns.some((pattern) => pattern.test(text))) continue;
    found.push(script);
    if (sought.whole !== undefined && text.includes(sought.whole)) whole.push(script);
  }
  const meant = whole.length ? whole : found;
  return meant.length > maxSoughtScripts ? [] : meant;
}

function mapNames({ url, sourceMapURL = '' }: ScriptParsed, originals: string[]): boolean {
  const found = readMap(url, sourceMapURL);
  return 'text' in found && originals.some((name) => found.text.includes(`${name}"`));
}
function describe(script: ScriptParsed): LoadedScript {
  const described: LoadedScript = {
    scriptId: script.scriptId,
    url: script.url,
    hash: script.hash,
    isModule: script.isModule ?? false,
  };
  if (script.length !== undefined) described.lengthChars = script.length;
  if (script.sourceMapURL)
    described.sourceMapUrl = script.sourceMapURL.startsWith('data:') ? 'data:' : script.sourceMapURL;
  return described;
}

interface Kept {
  readonly stackText: string;
  /** Total so far, of scripts and maps that are kept whole. */
  wholeChars: number;
}

function keepText(
  self: ScriptTexts,
  script: ScriptParsed,
  described: LoadedScript,
  context: ScriptsContext,
  kept: Kept,
  n: number,
): LoadedScript {
  const source = self.sourceOf(script.scriptId);
  const names = [script.url, pathOf(script.url) ?? script.url];
  const places = [
    ...placesOf(names, kept.stackText),
    ...names.flatMap((name) => context.framePlaces.get(name) ?? []),
  ];
  if (source !== undefined && source.length <= maxTextChars) {
    const name = `${sourcePartPrefix}${n}.txt`;
    const text = withoutInlineMap(source);
    const part = isWhole(text, kept) ? undefined : excerpt(text, places);
    if (context.writeCode(name, part ?? text)) described.sourcePart = name;
    if (part !== undefined) described.isExcerpt = true;
  }
  if (script.sourceMapURL) keepMap(script, described, context, { kept, places, n });
  return described;
}

function isWhole({ length }: string, kept: Kept): boolean {
  if (kept.wholeChars + length > maxWholeChars) return false;
  kept.wholeChars += length;
  return true;
}

/** An inline map becomes a separate part. Its comment is long and at the end, so no position changes. */
function withoutInlineMap(source: string): string {
  return source.replace(/(\/[/*][#@]\s*sourceMappingURL=data:)[^\s*]+/g, '$1');
}

function keepMap(
  script: ScriptParsed,
  described: LoadedScript,
  context: ScriptsContext,
  { kept, places, n }: { kept: Kept; places: readonly ScriptPlace[]; n: number },
): void {
  const found = readMap(script.url, script.sourceMapURL ?? '');
  if ('gap' in found) {
    described.mapGap = found.gap;
    return;
  }
  const name = `${mapPartPrefix}${n}.map`;
  try {
    const map = isWhole(found.text, kept) ? found.text : thinMap(found.text, places, kept.stackText);
    if (context.writeSourceMap(name, map)) described.mapPart = name;
  } catch (error) {
    described.mapGap = `the map is no source map: ${error instanceof Error ? error.message : String(error)}`;
    return;
  }
  const originals = keepOriginals(found, context, n);
  if (originals) described.originalParts = originals;
}

type FoundMap = { text: string; baseUrl: string } | { gap: string };

function readMap(scriptUrl: string, mapUrl: string): FoundMap {
  try {
    const base = isAbsolute(scriptUrl) ? pathToFileURL(scriptUrl).href : scriptUrl;
    if (mapUrl.startsWith('data:')) return { text: decodeDataUrl(mapUrl), baseUrl: base };
    const url = new URL(mapUrl, base);
    if (url.protocol !== 'file:') return { gap: `the map is at ${url.protocol}, which is not looked up` };
    const text = readSmallFile(fileURLToPath(url), maxMapBytes);
    if (text === undefined) return { gap: 'the map file is not there' };
    return text.length === maxMapBytes
      ? { gap: `the map is larger than ${maxMapBytes} bytes` }
      : { text, baseUrl: url.href };
  } catch (error) {
    return { gap: `the map's URL cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function decodeDataUrl(url: string): string {
  const comma = url.indexOf(',');
  const body = url.slice(comma + 1);
  return /;base64$/i.test(url.slice(0, comma))
    ? Buffer.from(body, 'base64').toString('utf8')
    : decodeURIComponent(body);
}

/** By default tsc writes maps without sourcesContent: then the files next to the map are the only source. */
function keepOriginals(
  map: { text: string; baseUrl: string },
  context: ScriptsContext,
  n: number,
): Record<string, string> | undefined {
  if (map.text.length > maxTextChars || /"sourcesContent"\s*:\s*\[\s*"/.test(map.text)) return undefined;
  const parsed = JSON.parse(map.text) as { sources?: unknown; sourceRoot?: unknown };
  if (!Array.isArray(parsed.sources)) return undefined;
  const root =
    typeof parsed.sourceRoot === 'string' && parsed.sourceRoot !== ''
      ? `${parsed.sourceRoot.replace(/\/$/, '')}/`
      : '';
  const originals: Record<string, string> = {};
  for (const [i, source] of parsed.sources.slice(0, maxOriginalsPerMap).entries()) {
    if (typeof source !== 'string') continue;
    const text = readOriginal(root + source, map.baseUrl);
    const name = `${sourcePartPrefix}${n}.original-${i + 1}.txt`;
    if (text !== undefined && context.writeCode(name, text)) originals[currentPolicy().text(source)] = name;
  }
  return Object.keys(originals).length > 0 ? originals : undefined;
}

function readOriginal(source: string, baseUrl: string): string | undefined {
  const path = pathOf(URL.canParse(source, baseUrl) ? new URL(source, baseUrl).href : source);
  return path !== undefined && /\.[cm]?[jt]sx?$/.test(path)
    ? readSmallFile(path, maxOriginalBytes)
    : undefined;
}

function pathOf(url: string): string | undefined {
  if (isAbsolute(url)) return url;
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}
