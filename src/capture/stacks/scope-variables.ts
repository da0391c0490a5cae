/**
 * The variables of a scope, as one line each. To make the preview of a collection V8 copies all of it, even if the program is
 * stopped: a Map of a million entries took 1.5 to 3.3 s and 300 MB (Node 20, 22, 26), in each scope where it is visible. So
 * the values are first requested without previews, which costs nothing, and a large value is described by its size only.
 */
import type { Runtime } from 'node:inspector';
import { startOf } from '../../redaction/start-of.ts';
import { withoutCutWords } from '../fatal-path/cut-text.ts';

export interface Variable {
  name: string;
  value: string;
}

/** A request to the session, about a scope or a value in it. */
export interface ScopeQuestion {
  method: 'Runtime.getProperties' | 'Runtime.callFunctionOn';
  params: Record<string, unknown>;
}

type Property = Pick<Runtime.PropertyDescriptor, 'name' | 'value'>;
type Answer = { result?: Runtime.PropertyDescriptor[] | Runtime.RemoteObject } | undefined;

const mostVariables = 40;
const maxValueChars = 512;
const maxFunctionChars = 120;
const mostElements = 10_000;
/** The protocol's names: their previews, and those of iterators over them, copy every entry. */
const collections = new Set(['map', 'set', 'weakmap', 'weakset', 'iterator']);

/**
 * Yields requests, and receives each answer, or undefined if there is none, so that the session may be synchronous or not.
 * `objectId`: of the scope.
 */
export function* readVariables(objectId: string): Generator<ScopeQuestion, Variable[], Answer> {
  const properties = propertiesOf(yield allOf(objectId, false));
  if (!properties.some(({ value }) => value?.objectId !== undefined)) return properties.map(render);
  if (!properties.some(({ value }) => value && isLarge(value)))
    return propertiesOf(yield allOf(objectId, true)).map(render);
  const variables: Variable[] = [];
  for (const { name, value } of properties) {
    const canBeShown = value?.objectId !== undefined && !isLarge(value);
    const shown = canBeShown ? yield previewOf(value.objectId) : undefined;
    variables.push(render({ name, value: (shown?.result as Runtime.RemoteObject | undefined) ?? value }));
  }
  return variables;
}

function allOf(objectId: string, generatePreview: boolean): ScopeQuestion {
  return { method: 'Runtime.getProperties', params: { objectId, ownProperties: true, generatePreview } };
}

function previewOf(objectId: string | undefined): ScopeQuestion {
  const functionDeclaration = 'function () { return this; }';
  const params = { objectId, functionDeclaration, generatePreview: true, silent: true };
  return { method: 'Runtime.callFunctionOn', params };
}

function propertiesOf(answer: Answer): Property[] {
  return Array.isArray(answer?.result) ? answer.result.slice(0, mostVariables) : [];
}

/** V8 gives the length in the description, `Array(3)`. A small Map may contain a large one, which is copied as well. */
function isLarge({ subtype = '', description = '' }: Runtime.RemoteObject): boolean {
  if (subtype !== 'array') return collections.has(subtype);
  return Number(/\((\d+)\)$/.exec(description)?.[1] ?? 0) > mostElements;
}

function render({ name, value }: Property): Variable {
  return { name, value: value ? renderValue(value) : '(optimised away)' };
}

/** One line for a value, as the debugger previews it. */
export function renderValue(value: Runtime.RemoteObject): string {
  if (value.type === 'function') return functionHead(value.description ?? '');
  const { preview } = value;
  const text = preview
    ? renderPreview(value, preview)
    : (value.description ?? JSON.stringify(value.value) ?? value.type);
  if (text.length <= maxValueChars) return text;
  return `${startOf(text, maxValueChars)}… (${text.length} characters)`;
}

/** V8 describes a function by its whole source, which can be any text: only the start of its first line is looked at. */
function functionHead(source: string): string {
  const [line = ''] = startOf(source, maxFunctionChars).split('\n', 1);
  const head = line.trimEnd().replace(/\{$/, '').trimEnd();
  return /^class\b/.test(head) ? head : `ƒ ${head.replace(/^(async )?function\b ?/, '$1')}`;
}

function renderPreview(value: Runtime.RemoteObject, preview: Runtime.ObjectPreview): string {
  const items = preview.properties.map(({ name, value: cut, type }) => {
    const text = cut && withoutCutWords(cut);
    const shown = type === 'string' ? JSON.stringify(text ?? '') : text || (type === 'function' ? 'ƒ' : type);
    return value.subtype === 'array' ? shown : `${name}: ${shown}`;
  });
  const rest = preview.overflow ? ', …' : '';
  const [open, close] = value.subtype === 'array' ? ['[', ']'] : ['{', '}'];
  return `${value.description ?? value.type} ${open}${items.join(', ')}${rest}${close}`;
}
