/**
 * Which expressions of a script can throw a given value that is no error, or reject with it: `throw`, `Promise.reject`, the
 * reason of an `abort`, and calls of the second parameter of a promise's executor. Or an error that was made elsewhere, by `throw`
 * alone. Told by the text of the expression alone.
 */
import type { Node } from 'acorn';
import { findPassingThrows } from './passing-throws.ts';
import { findNodes, isNode, parseScript, placeIn, type SourceKind } from './syntax-tree.ts';

/** A primitive as text, or an object with its fields, if they are known. */
type GivenValue =
  | { type: string; text: string }
  | { type: 'object'; className: string | undefined; fields: Readonly<Record<string, unknown>> | undefined };

/** The thrown value as recorded. `another's error`: its stack has no frame of the program. */
export type ThrownValue = GivenValue | "another's error";

/** `gives`: the text of the expression gives this value. Otherwise it passes on a value that the text doesn't tell. */
export interface ThrownPlace {
  line: number;
  column: number;
  gives: boolean;
}

type Fields = Node & Record<string, unknown>;
type Match = 'gives' | 'may' | 'no';

/** In source order, without the expressions that give another value; undefined if the text can't be parsed. */
export async function findThrownPlaces(
  text: string,
  kind: SourceKind,
  value: ThrownValue,
): Promise<ThrownPlace[] | undefined> {
  const program = await parseScript(text, kind);
  if (!program) return undefined;
  if (value === "another's error")
    return findPassingThrows(program).map(({ loc }) => ({ ...placeIn(loc?.start), gives: false }));
  const rejecters = rejecterCalls(program);
  const found = findNodes(
    program,
    (node) => node.type === 'ThrowStatement' || rejects(node) || rejecters.has(node),
  );
  return found.flatMap((node) => {
    const match = matchOf(argumentOf(node), value);
    return match === 'no' ? [] : [{ ...placeIn(node.loc?.start), gives: match === 'gives' }];
  });
}

function argumentOf(node: Node): unknown {
  const { type, argument, arguments: given } = node as Fields;
  return type === 'ThrowStatement' ? argument : (given as unknown[])[0];
}

/** `Promise.reject(…)`, or `controller.abort(…)`, whose reason the promises of the signal are rejected with. */
function rejects(node: Node): boolean {
  const { type, callee } = node as Fields;
  if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression') return false;
  const { object, property } = callee as Fields;
  const isAbort = nameOf(property) === 'abort' && ((node as Fields)['arguments'] as unknown[]).length > 0;
  return isAbort || (nameOf(object) === 'Promise' && nameOf(property) === 'reject');
}

function rejecterCalls(program: Node): Set<Node> {
  const executors = findNodes(program, (node) => {
    const { type, callee } = node as Fields;
    return type === 'NewExpression' && nameOf(callee) === 'Promise';
  });
  const calls = executors.flatMap((node) => {
    const [executor] = (node as Fields)['arguments'] as unknown[];
    const name = isNode(executor)
      ? nameOf(((executor as Fields)['params'] as unknown[] | undefined)?.[1])
      : undefined;
    if (!isNode(executor) || name === undefined) return [];
    return findNodes(
      executor,
      (one) => one.type === 'CallExpression' && nameOf((one as Fields)['callee']) === name,
    );
  });
  return new Set(calls);
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' ? ((node as Fields)['name'] as string) : undefined;
}

function matchOf(node: unknown, value: GivenValue): Match {
  if (!isNode(node)) return value.type === 'undefined' ? 'gives' : 'no';
  const { type, expression, consequent, alternate, left, right, expressions, operator } = node as Fields;
  switch (type) {
    case 'Literal':
      return matchLiteral(node as Fields, value);
    case 'Identifier':
      return nameOf(node) === 'undefined' ? (value.type === 'undefined' ? 'gives' : 'no') : 'may';
    case 'TemplateLiteral':
      return matchText(node, value);
    case 'BinaryExpression':
      return operator === '+' ? matchText(node, value) : value.type === 'object' ? 'no' : 'may';
    case 'ObjectExpression':
      return matchObject(node as Fields, value);
    case 'NewExpression':
      return matchNew(nameOf((node as Fields)['callee']), value);
    case 'ArrayExpression':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
    case 'ClassExpression':
      return 'no';
    case 'ConditionalExpression':
      return best(matchOf(consequent, value), matchOf(alternate, value));
    case 'LogicalExpression':
      return best(matchOf(left, value), matchOf(right, value));
    case 'SequenceExpression':
      return matchOf((expressions as unknown[]).at(-1), value);
    case 'ParenthesizedExpression':
      return matchOf(expression, value);
    default:
      return 'may';
  }
}

const order: readonly Match[] = ['no', 'may', 'gives'];
const best = (a: Match, b: Match): Match => (order.indexOf(a) > order.indexOf(b) ? a : b);

function matchLiteral({ value: literal }: Fields, value: GivenValue): Match {
  if (!('text' in value)) return 'no';
  const type = literal === null ? 'null' : typeof literal;
  return type === value.type && String(literal) === value.text ? 'gives' : 'no';
}

/** A text with parts that only the run knew: it must have the parts that are written out, and at least one word of them. */
function matchText(node: Node, value: GivenValue): Match {
  const parts = partsOf(node);
  if (!parts || !('text' in value) || value.type !== 'string')
    return value.type === 'number' && !parts ? 'may' : 'no';
  if (!parts.some((part) => part !== undefined && /\w/.test(part)))
    return parts.includes(undefined) ? 'may' : 'no';
  return fits(value.text, parts) ? 'gives' : 'no';
}

/** Each gap takes as little as it can, which needs no way back: only the end is fixed. */
function fits(text: string, parts: readonly (string | undefined)[]): boolean {
  let at = 0;
  let isOpen = false;
  for (const part of parts) {
    if (part === undefined) isOpen = true;
    else if (part !== '') {
      const found = isOpen ? text.indexOf(part, at) : text.startsWith(part, at) ? at : -1;
      if (found === -1) return false;
      at = found + part.length;
      isOpen = false;
    }
  }
  const last = parts.at(-1);
  return (
    isOpen || last === undefined || at === text.length || (parts.includes(undefined) && text.endsWith(last))
  );
}

/** Written-out parts; undefined stands for one that is computed. Undefined as a whole if no part is a text. */
function partsOf(node: Node): (string | undefined)[] | undefined {
  const { type, quasis, left, right, value } = node as Fields;
  if (type === 'TemplateLiteral')
    return (quasis as Fields[]).flatMap((quasi, at) => [
      ...(at > 0 ? [undefined] : []),
      (quasi['value'] as { cooked?: string }).cooked ?? '',
    ]);
  if (type === 'Literal') return typeof value === 'object' ? undefined : [String(value)];
  if (type !== 'BinaryExpression' || !isNode(left) || !isNode(right)) return undefined;
  const [first, second] = [partsOf(left), partsOf(right)];
  return first || second ? [...(first ?? [undefined]), ...(second ?? [undefined])] : undefined;
}

/** An object literal with the same fields, whose written-out values are the same. */
function matchObject({ properties }: Fields, value: GivenValue): Match {
  if ('text' in value || (value.className !== undefined && value.className !== 'Object')) return 'no';
  if (!value.fields) return 'gives';
  let isOpen = false;
  const names = new Set<string>();
  for (const property of properties as Fields[]) {
    const { type, key, computed, value: given } = property;
    const name = isNode(key) ? (nameOf(key) ?? (key as Fields)['value']) : undefined;
    if (type !== 'Property' || computed || typeof name !== 'string') {
      isOpen = true;
      continue;
    }
    names.add(name);
    const known: unknown = value.fields[name];
    // A field that is undefined or not enumerable may be missing from what was recorded.
    if (known === undefined && isNode(given) && given.type === 'Literal') return 'no';
    if (typeof known === 'object' && known !== null) continue;
    if (known !== undefined && matchOf(given, { type: typeof known, text: String(known) }) === 'no')
      return 'no';
  }
  if (Object.keys(value.fields).some((name) => !names.has(name))) return isOpen ? 'may' : 'no';
  return names.size ? 'gives' : 'may';
}

function matchNew(name: string | undefined, value: GivenValue): Match {
  if ('text' in value) return 'no';
  if (name === undefined || value.className === undefined) return 'may';
  return name === value.className ? 'gives' : 'no';
}
