/**
 * Calls whose promise, if they return one, is awaited and caught by nobody: statements of their own. Of a function by its name, or of a method of
 * what was made by a package: an import of it, and constants and variables whose values were made of such a one.
 */
import type { Node } from 'acorn';
import { findNodes, isNode, parseScript, placeIn, type SourceKind } from './syntax-tree.ts';

type Fields = Node & Record<string, unknown>;

export interface UnawaitedCall {
  name: string;
  line: number;
  column: number;
  /** The function or its object comes from the package. */
  isOfPackage: boolean;
}

/** In source order, each at the name that is called; undefined if the text can't be parsed. */
export async function findUnawaitedCalls(
  text: string,
  kind: SourceKind,
  { name, packageName }: { name: string | undefined; packageName: string },
): Promise<UnawaitedCall[] | undefined> {
  const program = await parseScript(text, kind);
  if (!program) return undefined;
  const made = madeBy(program, packageName);
  return findNodes(program, ({ type }) => type === 'ExpressionStatement').flatMap((statement) => {
    const callee = calleeIn((statement as Fields)['expression']);
    const called = callee && calledBy(callee);
    if (!called) return [];
    const own = nameOf(called);
    const isOfPackage = made.has(rootOf(callee) ?? '');
    return own !== undefined && (isOfPackage || own === name)
      ? [{ name: own, ...placeIn(called.loc?.start), isOfPackage }]
      : [];
  });
}

/** Of `client.connect()` or `void connect()`. */
function calleeIn(expression: unknown): Node | undefined {
  if (!isNode(expression)) return undefined;
  const { type, operator, argument, expression: inner, callee } = expression as Fields;
  if (type === 'UnaryExpression') return operator === 'void' ? calleeIn(argument) : undefined;
  if (type === 'ChainExpression') return calleeIn(inner);
  return type === 'CallExpression' && isNode(callee) ? callee : undefined;
}

function calledBy(callee: Node): Node | undefined {
  const { type, property, computed } = callee as Fields;
  if (type === 'Identifier') return callee;
  return type === 'MemberExpression' && !computed && isNode(property) ? property : undefined;
}

/** `client` of `client.users.find`; `this` has none. */
function rootOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  const { type, object, callee, argument, expression } = node as Fields;
  if (type === 'Identifier') return nameOf(node);
  if (type === 'MemberExpression') return rootOf(object);
  if (type === 'CallExpression' || type === 'NewExpression') return rootOf(callee);
  if (type === 'AwaitExpression') return rootOf(argument);
  return type === 'ChainExpression' ? rootOf(expression) : undefined;
}

/** Names that anything else in the script binds too count as well: the result is said to be likely. */
function madeBy(program: Node, packageName: string): Set<string> {
  const names = new Set<string>();
  const isOfIt = (source: unknown): boolean =>
    typeof source === 'string' && (source === packageName || source.startsWith(`${packageName}/`));
  for (const node of findNodes(program, ({ type }) => type === 'ImportDeclaration')) {
    const { source, specifiers } = node as Fields;
    if (isOfIt((source as Fields)['value']))
      for (const { local } of specifiers as Fields[]) names.add(nameOf(local) ?? '');
  }
  for (const node of findNodes(program, ({ type }) => type === 'VariableDeclarator')) {
    const { id, init } = node as Fields;
    if (!isNode(init) || !isNode(id)) continue;
    const isLoaded = findNodes(init, isLiteral).some((one) => isOfIt((one as Fields)['value']));
    const isMade = names.has(rootOf(init) ?? '');
    if (isMade || (isLoaded && /^(?:require|import)$/.test(loaderOf(init))))
      for (const one of boundBy(id)) names.add(one);
  }
  names.delete('');
  return names;
}

const isLiteral = ({ type }: Node): boolean => type === 'Literal';

/** `require` of `require('x').y`, `import` of `await import('x')`. */
function loaderOf(node: unknown): string {
  if (!isNode(node)) return '';
  const { type, object, argument } = node as Fields;
  if (type === 'ImportExpression') return 'import';
  return type === 'AwaitExpression'
    ? loaderOf(argument)
    : type === 'MemberExpression'
      ? loaderOf(object)
      : (rootOf(node) ?? '');
}

/** The names of a pattern, without those that are only read in it. */
const boundBy = (id: Node): string[] =>
  findNodes(id, ({ type }) => type === 'Identifier').flatMap((one) => nameOf(one) ?? []);

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' ? String((node as Fields)['name']) : undefined;
}
