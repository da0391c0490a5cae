/**
 * The awaits below a top-level one. A package that keeps its own queue of promises breaks the chain by which V8 finds the async callers of
 * what threw. The program's text then tells through which of its functions an error came, as long as each of them has only one await.
 */
import type { Node } from 'acorn';
import { findNodes, isNode, parseScript, placeIn } from '../syntax-tree.ts';
import { calledNames } from './top-level-awaits.ts';

export interface InnerAwait {
  url: string;
  /** Of the function whose only await it is. */
  name: string;
  line: number;
  column: number;
  /** What is called within the awaited expression. */
  calls: string[];
}

interface Place {
  url: string;
  line: number;
  column: number;
}

type Fields = Node & Record<string, unknown>;
/** The text of a module of the program; undefined for any other. */
type TextOf = (url: string) => string | undefined;

const mostHops = 8;
const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** From the outside in; empty if the awaited function is not known, or has several awaits. */
export async function findInnerAwaits(outer: Place, textOf: TextOf): Promise<InnerAwait[]> {
  const modules = new Modules(textOf);
  const program = await modules.read(outer.url);
  let node = program && findNodes(program, (one) => isAwaitAt(one, outer))[0];
  // In the statement around a top-level await, and in each function, a name may be that of another function than the module's.
  let scope = node && statementAround(program as Fields, node);
  let { url } = outer;
  const found: InnerAwait[] = [];
  while (node && scope && found.length < mostHops) {
    const name = calledBy(node);
    const isOfModule = name !== undefined && !boundNames(scope).includes(name);
    const called = isOfModule ? await modules.functionOf(url, name) : undefined;
    const way = called && onlyWay(called.node);
    if (!way || name === undefined) break;
    ({ url } = called);
    // A function that calls itself.
    const { line, column } = placeIn(way.loc?.start);
    if (found.some((one) => one.url === url && one.line === line && one.column === column)) break;
    found.push({ url, name, line, column, calls: calledNames(way) });
    node = way;
    scope = called.node;
  }
  return found;
}

const statementAround = (program: Fields, { start, end }: Node): Node | undefined =>
  (program['body'] as Node[]).find((statement) => statement.start <= start && end <= statement.end);

/** Names of parameters, variables, functions and classes, wherever within; once for each that has the name. */
function boundNames(scope: Node): (string | undefined)[] {
  const binding = findNodes(scope, ({ type }) => functions.has(type) || binders.has(type)) as Fields[];
  const patterns = binding.flatMap(({ id, param, params }) => [id, param, ...((params as unknown[]) ?? [])]);
  return patterns
    .filter(isNode)
    .flatMap((one) => findNodes(one, ({ type }) => type === 'Identifier'))
    .map(nameOf);
}

const binders = new Set(['VariableDeclarator', 'ClassDeclaration', 'ClassExpression', 'CatchClause']);

function isAwaitAt(node: Node, { line, column }: Place): boolean {
  const start = placeIn(node.loc?.start);
  return node.type === 'AwaitExpression' && start.line === line && start.column === column;
}

/** `load` of `await load(path)`, or of `load(path)` where it is returned. */
function calledBy(node: Node): string | undefined {
  const call = (node.type === 'AwaitExpression' ? (node as Fields)['argument'] : node) as Fields;
  const callee = call.type === 'CallExpression' ? (call['callee'] as Fields) : undefined;
  return callee?.type === 'Identifier' ? String(callee['name']) : undefined;
}

/** The only place of an async function at which an error of others can enter it; undefined if there are more. */
function onlyWay(node: Fields): Node | undefined {
  if (node['async'] !== true || node['generator'] === true) return undefined;
  const body = node['body'] as Node;
  if (body.type !== 'BlockStatement') return wayOf(body);
  const awaited = awaitedNames(node);
  const ways = findNodes(
    body,
    (one) => isWay(one, awaited),
    ({ type }) => functions.has(type),
  );
  const [only] = ways;
  if (!only || ways.length > 1) return undefined;
  if (only.type === 'AwaitExpression') return isCaught(only, body) ? undefined : only;
  return only.type === 'ReturnStatement' ? wayOf((only as Fields)['argument'] as Node) : undefined;
}

/** In a `try` that has a handler: what leaves the function is not the error of the await. */
const isCaught = ({ start, end }: Node, body: Node): boolean =>
  findNodes(body, ({ type }) => type === 'TryStatement').some((one) => {
    const { block, handler } = one as unknown as { block: Node; handler: Node | null };
    return handler !== null && block.start <= start && end <= block.end;
  });

const wayOf = (node: Node): Node | undefined =>
  node.type === 'AwaitExpression' || node.type === 'CallExpression' ? node : undefined;

/** What is returned may be a promise, and what is thrown the error of another. */
function isWay(node: Node, awaited: ReadonlySet<string>): boolean {
  const { await: isAwaited, kind, argument } = node as Fields;
  if (node.type === 'ForOfStatement') return isAwaited === true;
  if (node.type === 'VariableDeclaration') return kind === 'await using';
  if (node.type === 'ThrowStatement') return !isNode(argument) || argument.type !== 'NewExpression';
  if (node.type === 'ReturnStatement') return isNode(argument) && !isSettled(argument, awaited);
  return node.type === 'AwaitExpression';
}

/** Expressions whose value is no promise. */
const noPromise = new Set([
  'ArrayExpression',
  'AwaitExpression',
  'BinaryExpression',
  'Literal',
  'ObjectExpression',
  'TemplateLiteral',
  'UnaryExpression',
]);

/** What was awaited is no promise, but its members may be some: `reply.text` of `streamText()` in the AI SDK. */
const isSettled = (node: Node, awaited: ReadonlySet<string>): boolean =>
  noPromise.has(node.type) || awaited.has(nameOf(node) ?? '');

/** `reply` of `const reply = await ask()`, if nothing else in the function has that name. */
function awaitedNames(node: Node): Set<string> {
  const bound = boundNames(node);
  const constants = findNodes(node, (one) => (one as Fields)['kind'] === 'const') as Fields[];
  const names = constants
    .flatMap(({ declarations }) => (declarations as Fields[] | undefined) ?? [])
    .filter(({ init }) => isNode(init) && noPromise.has(init.type))
    .map(({ id }) => nameOf(id));
  return new Set(
    names.filter((name) => name !== undefined && bound.indexOf(name) === bound.lastIndexOf(name)) as string[],
  );
}

/** The program's modules, each parsed once. */
class Modules {
  readonly #textOf: TextOf;
  readonly #programs = new Map<string, Promise<Node | undefined>>();

  constructor(textOf: TextOf) {
    this.#textOf = textOf;
  }

  read(url: string): Promise<Node | undefined> {
    let program = this.#programs.get(url);
    if (!program) {
      const text = this.#textOf(url);
      program = text === undefined ? Promise.resolve(undefined) : parseScript(text, 'module');
      this.#programs.set(url, program);
    }
    return program;
  }

  /** The function that has this name at the top of the module, or is imported there from another module of the program. */
  async functionOf(url: string, name: string): Promise<{ url: string; node: Fields } | undefined> {
    const statements = await this.#statementsOf(url);
    const own = declared(statements, name);
    if (own) return { url, node: own };
    for (const statement of statements)
      for (const specifier of specifiersOf(statement)) {
        if (statement.type !== 'ImportDeclaration' || nameOf(specifier['local']) !== name) continue;
        const imported =
          specifier.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(specifier['imported']);
        return imported === undefined ? undefined : this.#exported(resolve(url, statement), imported);
      }
    return undefined;
  }

  async #exported(url: string | undefined, name: string): Promise<{ url: string; node: Fields } | undefined> {
    if (url === undefined) return undefined;
    const statements = await this.#statementsOf(url);
    for (const statement of statements) {
      const declaration = statement['declaration'] as Fields | undefined;
      if (statement.type === 'ExportDefaultDeclaration' && name === 'default')
        return declaration && functions.has(declaration.type) ? { url, node: declaration } : undefined;
      if (statement.type !== 'ExportNamedDeclaration' || statement['source']) continue;
      const node = declaration && declared([declaration], name);
      if (node) return { url, node };
      const local = specifiersOf(statement).find((one) => nameOf(one['exported']) === name);
      const own = local && declared(statements, nameOf(local['local']) ?? '');
      if (own) return { url, node: own };
    }
    return undefined;
  }

  async #statementsOf(url: string): Promise<Fields[]> {
    return ((await this.read(url)) as { body?: Fields[] } | undefined)?.body ?? [];
  }
}

/** `async function name() {}`, or a constant that is a function, also where it is exported at once. */
function declared(statements: readonly Fields[], name: string): Fields | undefined {
  for (const statement of statements) {
    const isExport = statement.type === 'ExportNamedDeclaration';
    const node = (isExport ? statement['declaration'] : statement) as Fields | null | undefined;
    if (node?.type === 'FunctionDeclaration' && nameOf(node['id']) === name) return node;
    if (node?.type !== 'VariableDeclaration' || node['kind'] !== 'const') continue;
    const made = (node['declarations'] as Fields[]).find((one) => nameOf(one['id']) === name)?.['init'];
    if (isNode(made) && functions.has(made.type)) return made as Fields;
  }
  return undefined;
}

const specifiersOf = (statement: Fields): Fields[] => (statement['specifiers'] as Fields[] | undefined) ?? [];

const nameOf = (node: unknown): string | undefined =>
  isNode(node) && node.type === 'Identifier' ? String((node as Fields)['name']) : undefined;

function resolve(url: string, statement: Fields): string | undefined {
  const specifier = String((statement['source'] as Fields | undefined)?.['value'] ?? '');
  return /^\.{0,2}\//.test(specifier) && URL.canParse(specifier, url)
    ? new URL(specifier, url).href
    : undefined;
}
