/** Where a program calls functions of Node by which it starts operations that may fail later. */
import type { Node } from 'acorn';
import type { Starter } from '../../bundle/layout/operations.ts';
import { findNodes, isNode, parseScript, placeIn, type SourceKind } from './syntax-tree.ts';

export interface StartedCall {
  name: string;
  line: number;
  column: number;
  /** The first argument, if the text says it. */
  literal?: string;
}

/** Of the end of an object's text. */
const longestObject = 80;

type Fields = Node & Record<string, unknown>;

/** In source order; undefined if the text can't be parsed. */
export async function findStartedCalls(
  text: string,
  kind: SourceKind,
  starters: readonly Starter[],
): Promise<StartedCall[] | undefined> {
  const program = await parseScript(text, kind);
  if (!program) return undefined;
  const imported = importedNames(program);
  return findNodes(program, ({ type }) => type === 'CallExpression').flatMap((node) => {
    const { callee, arguments: given } = node as Fields;
    const called = calledBy(callee, text, imported);
    if (!called || !starters.some(({ name, of }) => name === called.name && isOfIt(of, called.object)))
      return [];
    const literal = Array.isArray(given) ? literalOf(given[0]) : undefined;
    const { line, column } = placeIn(called.node.loc?.start);
    return [{ name: called.name, line, column, ...(literal !== undefined && { literal }) }];
  });
}

const isOfIt = (of: RegExp | undefined, object: string | undefined): boolean =>
  of === undefined || object === undefined || of.test(object);

/** `object`: its text, for a method; undefined for a function that was imported by its name. */
function calledBy(
  callee: unknown,
  text: string,
  imported: ReadonlyMap<string, string>,
): { name: string; node: Node; object?: string } | undefined {
  if (!isNode(callee)) return undefined;
  const { expressions, object, property, computed } = callee as Fields;
  // Bundlers call `(0, fs.open)(…)`.
  if (callee.type === 'SequenceExpression' && Array.isArray(expressions))
    return calledBy(expressions.at(-1), text, imported);
  if (callee.type === 'Identifier') {
    const name = imported.get(nameOf(callee) ?? '');
    return name === undefined ? undefined : { name, node: callee };
  }
  if (callee.type !== 'MemberExpression' || computed || !isNode(object) || !isNode(property))
    return undefined;
  const name = nameOf(property);
  return name === undefined
    ? undefined
    : { name, node: property, object: text.slice(object.start, object.end).slice(-longestObject) };
}

/** The functions of modules by their names in this script. */
function importedNames(program: Node): Map<string, string> {
  const names = new Map<string, string>();
  for (const node of findNodes(program, ({ type }) =>
    /^(?:ImportSpecifier|VariableDeclarator)$/.test(type),
  )) {
    const { imported, local, id, init } = node as Fields;
    if (node.type === 'ImportSpecifier') add(imported, local);
    else if (isNode(id) && id.type === 'ObjectPattern' && isOfModule(init))
      for (const { key, value } of (id as Fields)['properties'] as Fields[]) add(key, value);
  }
  return names;

  function add(theirs: unknown, ours: unknown): void {
    const [name, own] = [nameOf(theirs), nameOf(ours)];
    if (name !== undefined && own !== undefined) names.set(own, name);
  }
}

/** `require(…)`, `await import(…)`, or a property of them. */
function isOfModule(init: unknown): boolean {
  if (!isNode(init)) return false;
  const { argument, object, callee } = init as Fields;
  if (init.type === 'AwaitExpression') return isNode(argument) && argument.type === 'ImportExpression';
  if (init.type === 'MemberExpression') return isOfModule(object);
  return init.type === 'CallExpression' && nameOf(callee) === 'require';
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' ? String((node as Fields)['name']) : undefined;
}

function literalOf(node: unknown): string | undefined {
  const value: unknown = isNode(node) && node.type === 'Literal' ? (node as Fields)['value'] : undefined;
  return typeof value === 'string' ? value : undefined;
}
