/** Converts a JavaScript frame of a core into the account's frame: name, place, source, `this`, arguments, closure. */

import { whereMapped } from '../../../bytes/memory.ts';
import { readClosureVariables } from '../../../formats/v8/frames/contexts.ts';
import type { JavaScriptFrame } from '../../../formats/v8/frames/frames.ts';
import type { Script } from '../../../formats/v8/frames/script.ts';
import { optimisedAway } from '../../../formats/v8/frames/translated-values.ts';
import type { Tagged, V8Heap } from '../../../formats/v8/heap/heap.ts';
import { findConstructorName, readOwnProperties } from '../../../formats/v8/properties.ts';
import { findString, isStringType } from '../../../formats/v8/strings.ts';
import { ValueRenderer } from '../../../formats/v8/values.ts';
import type { Frame, FrameTrust, LocalVariable, SourceLine } from '../../../model/thread.ts';
import { isInApp } from '../../stacks/in-app.ts';
import type { V8Runtime } from './v8-runtime.ts';

export interface FrameDetail {
  /** Read values and source lines. Omitted for most frames of a deep recursion, because of the cost. */
  values: boolean;
  /** The next frame on the stack is V8's construct frame, for `new`. */
  isConstructing: boolean;
  trust: FrameTrust;
  address: number;
  /** Name of V8's built-in code that the frame is in. */
  builtin?: string | undefined;
}

const sourceContext = 2;
const maxLineLength = 240;
const maxClosureVariables = 16;
const maxMethods = 100;
const maxPrototypes = 20;
/** From this V8 on, a function that is a receiver is told by its name, before only a class. */
const namesFunctionsFrom = 13;
/** V8 puts the class of the receiver before such names only: not before `get x`, `#x` or `Module._load`. */
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;
const maxOwnOfFunction = 16;
const maxName = 512;

export function describeJavaScriptFrame(v8: V8Runtime, frame: JavaScriptFrame, detail: FrameDetail): Frame {
  const { script } = frame.function;
  const name =
    displayName(v8, frame, detail.isConstructing) || (frame.tier === 'builtin' ? detail.builtin : undefined);
  const result: Frame = {
    inApp: script !== undefined && isInApp(script.name),
    trust: detail.trust,
    address: `0x${detail.address.toString(16)}`,
    tier: frame.tier,
    ...(name ? { function: name } : {}),
    ...(frame.isInlined ? { inlined: true } : {}),
    ...(script ? { file: script.name || '<anonymous>' } : {}),
    ...(frame.place ? { line: frame.place.line, column: frame.place.column } : {}),
  };
  if (!detail.values) return result;
  const source = script && frame.place && readSource(v8, script, frame.place.line);
  if (source) result.source = source;
  const locals = readLocals(v8, frame);
  if (locals.length > 0) result.locals = locals;
  return result;
}

/** As in V8's own stack traces: `new Agent`, `Agent.run`, `run`, `get total`. */
export function displayName(v8: V8Runtime, frame: JavaScriptFrame, isConstructing: boolean): string {
  const { name: declared, isClass, script } = frame.function;
  const name = findOwnName(v8, frame) || declared || (script?.isEval ? 'eval' : '');
  if (isConstructing || frame.isConstructing || isClass) return `new ${name || '<anonymous>'}`;
  const type = frame.receiver === undefined ? undefined : findTypeName(v8, frame.receiver);
  if (!type || (name && !identifier.test(name))) return name;
  return `${type}.${name || findMethodName(v8, frame) || '<anonymous>'}`;
}

/**
 * V8 stores the name of a method with a computed key in the function object itself, because each evaluation has its own. It comes
 * before the name that was inferred from where the function stands.
 */
function findOwnName(v8: V8Runtime, { closure }: JavaScriptFrame): string | undefined {
  if (closure === undefined) return undefined;
  const heap = v8.values;
  return whereMapped(() => {
    const own = readOwnProperties(heap, closure, maxOwnOfFunction).find(
      (p) => p.name === 'name' && !p.isAccessor,
    );
    return own && isStringType(heap.findType(own.value)) ? findString(heap, own.value, maxName) : undefined;
  });
}

/** An anonymous function gets the name of the property that contains it, of its receiver or of a prototype of that. */
function findMethodName(v8: V8Runtime, { receiver, closure }: JavaScriptFrame): string | undefined {
  if (receiver === undefined || closure === undefined) return undefined;
  const heap = v8.values;
  return whereMapped(() => {
    let holder = receiver;
    for (let i = 0; i < maxPrototypes && isObject(heap, holder); i++) {
      const found = readOwnProperties(heap, holder, maxMethods).find((p) => p.value === closure);
      if (found) return found.name;
      holder = heap.field(heap.map(holder), heap.layout.map.prototype);
    }
    return undefined;
  });
}

const isObject = (heap: V8Heap, value: Tagged): boolean =>
  heap.isPointer(value) && (heap.findType(value) ?? 0) > heap.layout.types.jsProxy;

/** Undefined if the receiver is `undefined` or the global object: a plain call. */
function findTypeName(v8: V8Runtime, receiver: number): string | undefined {
  const heap = v8.values;
  const { types } = heap.layout;
  return whereMapped(() => {
    const type = heap.findType(receiver);
    if (
      type === undefined ||
      type < types.jsProxy ||
      type === types.globalProxy ||
      type === types.globalObject
    )
      return undefined;
    const made = heap.isFunction(receiver) ? v8.functions.ofClosure(receiver) : undefined;
    if (made)
      return (made.isClass || v8.version.major >= namesFunctionsFrom) && made.name ? made.name : 'Function';
    return findConstructorName(heap, receiver);
  });
}

export function readSource(v8: V8Runtime, script: Script, line: number): SourceLine[] {
  const lines: SourceLine[] = [];
  for (let at = Math.max(1, line - sourceContext); at <= line + sourceContext; at++) {
    const text = v8.scripts.findLine(script, at);
    if (text !== undefined) lines.push({ line: at, text: text.slice(0, maxLineLength) });
  }
  return lines;
}

function readLocals(v8: V8Runtime, frame: JavaScriptFrame): LocalVariable[] {
  const renderer = new ValueRenderer(v8.values, v8.functions);
  const locals: LocalVariable[] = [];
  if (frame.receiver !== undefined)
    locals.push({ name: 'this', scope: 'this', value: renderer.render(frame.receiver) });
  locals.push(...readArguments(frame, renderer));
  if (frame.context !== undefined && isInApp(frame.function.script?.name ?? ''))
    locals.push(...readClosure(v8, frame.context, renderer));
  return locals;
}

/** Declared parameters by name, then any further arguments. */
function readArguments(frame: JavaScriptFrame, renderer: ValueRenderer): LocalVariable[] {
  const { parameters } = frame.function;
  const passed = frame.arguments;
  const render = (value: number | undefined) =>
    value === undefined ? optimisedAway : renderer.render(value);
  const locals = parameters.map((name, i): LocalVariable => {
    if (!passed) return { name, scope: 'argument', value: optimisedAway };
    if (name.startsWith('...')) {
      const rest = passed.slice(i).map(render);
      return { name, scope: 'argument', value: rest.length === 0 ? '[]' : `[ ${rest.join(', ')} ]` };
    }
    return { name, scope: 'argument', value: i < passed.length ? render(passed[i]) : 'undefined' };
  });
  const last = parameters.at(-1);
  if (passed && !last?.startsWith('...'))
    passed.slice(parameters.length).forEach((value, i) => {
      const name = `arguments[${parameters.length + i}]`;
      locals.push({ name, scope: 'argument', value: render(value) });
    });
  return locals;
}

function readClosure(v8: V8Runtime, context: number, renderer: ValueRenderer): LocalVariable[] {
  return (
    whereMapped(() =>
      readClosureVariables(v8.values, context, maxClosureVariables).map(({ name, value }) => ({
        name,
        scope: 'closure',
        value: renderer.render(value),
      })),
    ) ?? []
  );
}
