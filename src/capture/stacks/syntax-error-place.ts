/**
 * Finds where an ES module has its syntax error. For such a SyntaxError Node prints file and line but does not expose them:
 * the stack has only frames of the loader. V8 provides line and column (Runtime.getExceptionDetails), but does not list a
 * script that it could not compile. So the files that the loaded modules import and V8 does not list are compiled once more,
 * and the file with the same error at the same line is the one. Tested on Node 20.20, 22.23, 24.21, 26.10.
 */
import { readFileSync, statSync } from 'node:fs';
import { types } from 'node:util';
import { Script } from 'node:vm';
import type { ErrorPart } from '../../bundle/layout/bundle.ts';
import { isAbsolutePath } from '../../platform/paths.ts';
import { openSelfDebugger, type ScriptParsed, type SelfDebugger } from '../host/inspector-session.ts';
import { findField } from '../host/read-field.ts';

type Place = NonNullable<ErrorPart['place']>;

const maxModules = 1000;
const maxSearchMs = 400;
const maxFileBytes = 4 * 1024 * 1024;
const maxLineChars = 300;
const specifiers = /\b(?:from|import)\s*\(?\s*(['"])([^'"\n]{1,1000})\1/g;
/** Syntax that is only allowed in modules; without it, the rest is the body of an async function. */
const moduleWords = new RegExp(
  [
    String.raw`^[ \t]*import\b(?!\s*[.(])[^'"]{0,4000}(['"])[^'"\n]*\1`,
    String.raw`\bexport\s+\*[^'"\n]*(['"])[^'"\n]*\2`,
    String.raw`\bexport\s*\{[^}]{0,4000}\}(?:\s*from\s*(['"])[^'"\n]*\3)?`,
    String.raw`\bexport(?=\s)`,
  ].join('|'),
  'gm',
);

/** Undefined if the stack names the place itself, if it is another kind of error, and if no file is confirmed. */
export function findSyntaxErrorPlace(thrown: unknown): Place | undefined {
  if (!types.isNativeError(thrown) || findField(thrown, 'name') !== 'SyntaxError') return undefined;
  const [message, stack] = [findField(thrown, 'message'), findField(thrown, 'stack')];
  if (typeof message !== 'string' || typeof stack !== 'string') return undefined;
  if (!stack.startsWith('SyntaxError') || !/^\s+at .*\(node:internal\/modules\/esm\//m.test(stack))
    return undefined;
  try {
    const self = openSelfDebugger();
    try {
      return locate(self, thrown, message);
    } finally {
      self.close();
    }
  } catch {
    return undefined;
  }
}

/** Follows imports from the entry and the loaded modules, until a file is confirmed or the time is up. */
function locate(self: SelfDebugger, thrown: Error, message: string): Place | undefined {
  const found = self.exceptionPlace(thrown);
  if (!found) return undefined;
  const loaded = new Map(self.scripts.filter(isProgramFile).map(({ url, scriptId }) => [url, scriptId]));
  const reached = new Set([...entryUrls(), ...evaluatedImports(), ...loaded.keys()]);
  const deadline = performance.now() + maxSearchMs;
  for (const url of reached) {
    if (performance.now() > deadline) return undefined;
    const scriptId = loaded.get(url);
    const text = scriptId === undefined ? readModule(new URL(url)) : self.sourceOf(scriptId);
    if (text === undefined) continue;
    if (scriptId === undefined && failsLikewise(text, message, found.line)) {
      const sourceLine = (text.split('\n')[found.line - 1] ?? '').trim().slice(0, maxLineChars);
      return { url, ...found, sourceLine };
    }
    for (const imported of importsOf(text, url)) if (reached.size < maxModules) reached.add(imported);
  }
  return undefined;
}

/** A CommonJS script may import too. */
const isProgramFile = ({ url }: ScriptParsed): boolean => url.startsWith('file:');

function entryUrls(): string[] {
  const [, entry] = process.argv;
  return entry === undefined ? [] : [process.getBuiltinModule('node:url').pathToFileURL(entry).href];
}

function importsOf(text: string, url: string): string[] {
  return [...text.matchAll(specifiers)].flatMap((match) => resolve(match[2] ?? '', url) ?? []);
}

/** The imports in the text of `node -e`, which is no file and resolves them from the working directory. */
function evaluatedImports(): string[] {
  const { _eval: text } = process as { _eval?: unknown };
  if (typeof text !== 'string') return [];
  const { pathToFileURL } = process.getBuiltinModule('node:url');
  return importsOf(text.slice(0, maxFileBytes), pathToFileURL(`${process.cwd()}/[eval]`).href);
}

/** Undefined if it is not a file. */
function resolve(specifier: string, from: string): string | undefined {
  try {
    if (/^(?:\.{0,2}\/|file:)/.test(specifier)) return new URL(specifier, from).href;
    const { createRequire } = process.getBuiltinModule('node:module');
    const path = createRequire(from).resolve(specifier);
    return isAbsolutePath(path) ? process.getBuiltinModule('node:url').pathToFileURL(path).href : undefined;
  } catch {
    return undefined;
  }
}

function readModule(url: URL): string | undefined {
  try {
    const stat = statSync(url);
    return stat.isFile() && stat.size <= maxFileBytes ? readFileSync(url, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the text, compiled like a module, fails with the same message at the same line. It is never run. */
function failsLikewise(text: string, message: string, line: number): boolean {
  const body = text
    .replace(/^#!.*/, '')
    .replace(/\bexport\s+default\b/g, (words) => words.replace('export', '_=').replace('default', ''))
    .replace(moduleWords, (words) => words.replace(/[^\n]/g, ' '));
  try {
    new Script(`"use strict";(async()=>{${body}\n})`, { filename: 'module' });
    return false;
  } catch (error) {
    return (
      error instanceof SyntaxError &&
      error.message === message &&
      (error.stack ?? '').startsWith(`module:${line}\n`)
    );
  }
}
