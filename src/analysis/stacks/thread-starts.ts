/** Where a script starts worker threads: `new` of the Worker that it has from `node:worker_threads`, by whatever name. */
import type { Node } from 'acorn';
import { findNodes, isNode } from './syntax-tree.ts';

type Fields = Node & Record<string, unknown>;

/** In source order. Classes of the same name from elsewhere are none: a queue has workers, too. */
export function findThreadStarts(program: Node): Node[] {
  const names = namesIn(program);
  return findNodes(program, (node) => {
    const { type, callee } = node as Fields;
    if (type !== 'NewExpression' || !isNode(callee)) return false;
    return names.workers.has(nameOf(callee) ?? '') || isWorkerOf(callee as Fields, names.modules);
  });
}

/** Local names of the class, and of the module. */
interface Names {
  workers: Set<string>;
  modules: Set<string>;
}

function namesIn(program: Node): Names {
  const names: Names = { workers: new Set(), modules: new Set() };
  for (const node of findNodes(program, isImport)) {
    for (const { type, imported, local } of (node as Fields)['specifiers'] as Fields[]) {
      const isModule = type !== 'ImportSpecifier';
      if (isModule || nameOf(imported) === 'Worker')
        names[isModule ? 'modules' : 'workers'].add(nameOf(local) ?? '');
    }
  }
  const declarators = findNodes(program, ({ type }) => type === 'VariableDeclarator') as Fields[];
  // `const threads = require(…); const { Worker } = threads;` needs the module's name first: source order.
  for (const { id, init } of declarators) {
    if (!isNode(init) || !isNode(id)) continue;
    if (isWorkerOf(init as Fields, names.modules)) names.workers.add(nameOf(id) ?? '');
    else if (isModuleOf(init, names.modules)) bind(id as Fields, names);
  }
  return names;
}

function bind(id: Fields, names: Names): void {
  if (id.type === 'Identifier') names.modules.add(nameOf(id) ?? '');
  if (id.type !== 'ObjectPattern') return;
  for (const { key, value } of id['properties'] as Fields[])
    if (nameOf(key) === 'Worker') names.workers.add(nameOf(value) ?? '');
}

const isImport = (node: Node): boolean =>
  node.type === 'ImportDeclaration' && isModuleName((node as Fields)['source']);

const isModuleName = (node: unknown): boolean =>
  isNode(node) && /^(?:node:)?worker_threads$/.test(`${(node as Fields)['value']}`);

/** `threads.Worker`, `require('worker_threads').Worker`. */
function isWorkerOf({ type, object, property }: Fields, modules: ReadonlySet<string>): boolean {
  return type === 'MemberExpression' && nameOf(property) === 'Worker' && isModuleOf(object, modules);
}

/** A name of the module, `await import(…)`, a call that is given the module's name, or one of a compiler around that: `__toESM(require(…))`. */
function isModuleOf(node: unknown, modules: ReadonlySet<string>): boolean {
  if (!isNode(node)) return false;
  const { type, argument, source, arguments: given } = node as Fields;
  if (type === 'Identifier') return modules.has(nameOf(node) ?? '');
  if (type === 'AwaitExpression') return isModuleOf(argument, modules);
  if (type === 'ImportExpression') return isModuleName(source);
  if (type !== 'CallExpression') return false;
  const [first] = given as unknown[];
  return (
    isModuleName(first) || (isNode(first) && first.type === 'CallExpression' && isModuleOf(first, modules))
  );
}

const nameOf = (node: unknown): string | undefined =>
  isNode(node) && node.type === 'Identifier' ? ((node as Fields)['name'] as string) : undefined;
