/**
 * ScopeInfo: what V8 keeps of a scope after compilation: the names of the variables in its context, the function's own and
 * inferred name, its start and end. The names of variables on the stack are not kept. Source: src/objects/scope-info.tq of
 * each V8 line.
 */
import type { Tagged, V8Heap } from '../heap/heap.ts';
import { doubtText, findString } from '../strings.ts';

export interface ScopeInfo {
  /** Number of declared parameters. */
  parameterCount: number;
  /** Variables in the context, in slot order; empty if there are so many that V8 hashes them. */
  variables: string[];
  /** UTF-16 offsets of the scope in the script. */
  start?: number;
  end?: number;
  functionName?: string;
  inferredName?: string;
  /** A function, a script, a module, or a block with declarations of functions; not any other block, and not a class. */
  isDeclaration: boolean;
  /** Why one of the two may not be right: "is no text". */
  nameDoubt?: string;
}

/** From this number on V8 stores the names in a hash table. */
const inlineNames = 75;
const maxVariables = 100_000;
const maxNameLength = 512;
/** Bits of the flags word, identical in every line from 11.3 to 14.6. */
const isDeclarationScope = 1 << 6;
const hasSavedClassVariable = 1 << 10;
const functionVariableMask = 3 << 12;
const hasInferredName = 1 << 14;

export function findScopeInfo(heap: V8Heap, value: Tagged): ScopeInfo | undefined {
  const { types, scopeInfo } = heap.layout;
  if (!heap.isType(value, types.scopeInfo)) return undefined;
  const flags = readFlags(heap, value);
  const parameterCount = heap.findSmi(value, scopeInfo.parameterCount);
  const count = heap.findSmi(value, scopeInfo.localCount);
  if (parameterCount === undefined || count === undefined || count < 0 || count > maxVariables)
    return undefined;
  const first = findNames(heap, value, count);
  const isTable = count >= inlineNames;
  const variables = isTable ? [] : readNames(heap, value, first, count);
  const isDeclaration = (flags & isDeclarationScope) !== 0;
  const info: ScopeInfo = { parameterCount, variables, isDeclaration };
  readTail(heap, value, flags, (first + (isTable ? 1 : count) + count) * 8, info);
  if (scopeInfo.hasFixedPosition) setPosition(heap, value, scopeInfo.localCount + 8, info);
  return info;
}

/** A small integer up to V8 13, a raw word since. */
function readFlags(heap: V8Heap, value: Tagged): number {
  const word = heap.field(value, 8);
  return heap.isSmi(word) && word !== 0 ? heap.smi(word) : word % 2 ** 32;
}

/** Index of the first name. In a module scope the number of the module's variables precedes the names. */
function findNames(heap: V8Heap, value: Tagged, count: number): number {
  const first = heap.layout.scopeInfo.variables / 8 + 1;
  return count > 0 && heap.isSmi(heap.field(value, first * 8)) ? first + 1 : first;
}

function readNames(heap: V8Heap, value: Tagged, at: number, count: number): string[] {
  const names: string[] = [];
  for (let i = 0; i < count; i++)
    names.push(findString(heap, heap.field(value, (at + i) * 8), maxNameLength) ?? '');
  return names;
}

/** Follows the names and their properties: class variable, function name and slot, inferred name, position. */
function readTail(heap: V8Heap, value: Tagged, flags: number, start: number, info: ScopeInfo): void {
  let at = start;
  if (flags & hasSavedClassVariable) at += 8;
  if (flags & functionVariableMask) {
    const name = findName(heap, heap.field(value, at), info);
    if (name) info.functionName = name;
    at += 16;
  }
  if (flags & hasInferredName) {
    const name = findName(heap, heap.field(value, at), info);
    if (name) info.inferredName = name;
    at += 8;
  }
  if (!heap.layout.scopeInfo.hasFixedPosition) setPosition(heap, value, at, info);
}

function findName(heap: V8Heap, value: Tagged, info: ScopeInfo): string | undefined {
  const doubt = doubtText(heap, value);
  if (doubt) info.nameDoubt = doubt;
  return findString(heap, value, maxNameLength);
}

function setPosition(heap: V8Heap, value: Tagged, at: number, info: ScopeInfo): void {
  const start = heap.findSmi(value, at);
  const end = heap.findSmi(value, at + 8);
  if (start === undefined || end === undefined || start < 0 || end < start) return;
  info.start = start;
  info.end = end;
}
