/**
 * Throws of what a script does not make itself: an error that it makes has a stack with a frame of the script. A throw counts as one
 * unless its text shows what is made.
 */
import type { Node } from 'acorn';
import { findNodes, isNode } from './syntax-tree.ts';

type Fields = Node & Record<string, unknown>;

/** The names that a block declares: true for a constant whose value is made by the script. `outer` ends at the function. */
interface Scope {
  names: ReadonlyMap<string, boolean>;
  outer: Scope | undefined;
}

/** In source order. */
export function findPassingThrows(program: Node): Node[] {
  const found: Node[] = [];
  const open: [node: Node, scope: Scope | undefined][] = [[program, undefined]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, around] = next;
    const { type, argument } = node as Fields;
    if (type === 'ThrowStatement' && !isMade(argument, around)) found.push(node);
    const outer = isFunction(node) ? undefined : around;
    const names = namesOf(node as Fields, outer);
    const scope = names ? { names, outer } : outer;
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) open.push([child, scope]);
  }
  return found.sort((a, b) => a.start - b.start);
}

const isFunction = ({ type }: Node): boolean =>
  type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';

/** Whether the value was made by this expression, or stands in a constant of the same function. */
function isMade(node: unknown, scope: Scope | undefined): boolean {
  if (!isNode(node)) return false;
  const { type, name, operator, right, consequent, alternate, expressions } = node as Fields;
  switch (type) {
    case 'NewExpression':
    case 'Literal':
    case 'TemplateLiteral':
    case 'BinaryExpression':
    case 'UnaryExpression':
    case 'UpdateExpression':
    case 'ObjectExpression':
    case 'ArrayExpression':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
    case 'ClassExpression':
      return true;
    case 'CallExpression':
      return isMadeByCall(node as Fields, scope);
    case 'Identifier':
      return isMadeConstant(name as string, scope);
    case 'AssignmentExpression':
      return operator === '=' && isMade(right, scope);
    case 'ConditionalExpression':
      return isMade(consequent, scope) && isMade(alternate, scope);
    case 'SequenceExpression':
      return isMade((expressions as unknown[]).at(-1), scope);
    default:
      return false;
  }
}

/** `Object.assign(new Error(…), …)`, or `Error(…)`. */
function isMadeByCall({ callee, arguments: given }: Fields, scope: Scope | undefined): boolean {
  if (!isNode(callee)) return false;
  const { type, name, object, property } = callee as Fields;
  if (type === 'Identifier')
    return /^(?:Type|Range|Syntax|Reference|URI|Eval|Aggregate)?Error$/.test(`${name}`);
  const isAssign =
    isNode(object) && (object as Fields)['name'] === 'Object' && (property as Fields)['name'] === 'assign';
  return isAssign && isMade((given as unknown[])[0], scope);
}

function isMadeConstant(name: string, scope: Scope | undefined): boolean {
  for (let one = scope; one; one = one.outer) {
    const isConstant = one.names.get(name);
    if (isConstant !== undefined) return isConstant;
  }
  return false;
}

/** What the node declares for what is below it; undefined if it is no block. */
function namesOf(node: Fields, outer: Scope | undefined): Map<string, boolean> | undefined {
  const declared = declarationsIn(node);
  if (!declared) return undefined;
  const names = new Map<string, boolean>();
  for (const one of declared) {
    const { type, kind, declarations, id } = one as Fields;
    if (type === 'VariableDeclaration')
      for (const { id: target, init } of declarations as Fields[])
        declare(names, target, kind === 'const' && isNamed(target) && isMade(init, { names, outer }));
    else if (type === 'FunctionDeclaration' || type === 'ClassDeclaration') declare(names, id, false);
    // The parameter of a catch, or what is imported.
    else declare(names, one, false);
  }
  return names;
}

function declarationsIn({ type, body, cases, param, init, left }: Fields): Node[] | undefined {
  const isDeclaration = (node: unknown): node is Node =>
    isNode(node) && /^(?:Variable|Function|Class|Import)Declaration$/.test(node.type);
  const exported = (node: Node): unknown => (node as Fields)['declaration'] ?? node;
  switch (type) {
    case 'Program':
    case 'BlockStatement':
    case 'StaticBlock':
      return (body as Node[]).map(exported).filter(isDeclaration);
    case 'SwitchStatement':
      return (cases as Fields[]).flatMap(({ consequent }) => consequent as Node[]).filter(isDeclaration);
    case 'CatchClause':
      return isNode(param) ? [param] : [];
    case 'ForStatement':
      return [init].filter(isDeclaration);
    case 'ForInStatement':
    case 'ForOfStatement':
      return [left].filter(isDeclaration);
    default:
      return undefined;
  }
}

const isNamed = (node: unknown): boolean => isNode(node) && node.type === 'Identifier';

function declare(names: Map<string, boolean>, target: unknown, isMadeHere: boolean): void {
  if (!isNode(target)) return;
  for (const one of findNodes(target, isNamed)) names.set((one as Fields)['name'] as string, isMadeHere);
}
