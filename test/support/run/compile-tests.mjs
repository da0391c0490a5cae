// Strips the types of src and test once for all test files, into .tests/: what stands where stays the same, so that stacks
// need no source maps. Each file would otherwise start tsx, or a thread that loads modules, and read the maps of all that
// it imports: 0.2 to 0.6 s of processor on Node 20. Only what has changed since.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const outdir = join(root, '.tests');
const folders = ['src', 'test'];
/** Not AssemblyScript, and not the programs of others. */
const isSource = (path) => /(?<!\.d|\.as)\.ts$/.test(path) && !path.includes('/test/fidelity/project/');

const compilerChangedMs = changedAt(fileURLToPath(import.meta.url));

/** Of a path from the root, or of an absolute one. */
export const compiledName = (path) => join(outdir, `${relative(root, resolve(root, path)).slice(0, -3)}.js`);

/** Names in a text, such as a stack, the sources of what was compiled. */
export const nameSources = (text) => text.replace(/\/\.tests\/((?:src|test)\/[^\s:'"?]+)\.js\b/g, '/$1.ts');

export async function compileTests() {
  const sources = folders.flatMap((name) => findFiles(join(root, name)).filter(isSource));
  const outputs = new Map(sources.map((path) => [compiledName(path), path]));
  // A test of what was moved away must not find it.
  const before = folders.flatMap((name) => findFiles(join(outdir, name)));
  for (const path of before) if (!outputs.has(path)) rmSync(path, { force: true });
  const changed = sources.filter((path) => !isCurrent(path));
  if (!changed.length) return;
  const compile = await loadCompiler();
  for (const path of changed) {
    const output = compiledName(path);
    const readAt = statSync(path).mtime;
    mkdirSync(dirname(output), { recursive: true });
    // Another run in this tree may be reading the one before.
    const unfinished = join(outdir, `unfinished-${process.pid}`);
    writeFileSync(unfinished, compile(path));
    utimesSync(unfinished, readAt, readAt);
    renameSync(unfinished, output);
  }
}

/**
 * An output has the time of the source that was read for it. To be newer is not enough: the source may have been edited
 * meanwhile, or replaced by an older file.
 */
function isCurrent(path) {
  const output = statSync(compiledName(path), { throwIfNoEntry: false });
  if (!output) return false;
  const { mtime } = statSync(path);
  return output.mtime.getTime() === mtime.getTime() && output.ctimeMs > compilerChangedMs;
}

/** Not at the top: mostly there is nothing to compile. */
async function loadCompiler() {
  const [{ transformSync }, { parse }] = await Promise.all([import('amaro'), import('acorn')]);
  return (path) => {
    const { code } = transformSync(readFileSync(path, 'utf8'), { mode: 'strip-only', filename: path });
    const edits = [];
    const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module' });
    for (const node of /import\.meta|import\(/.test(code) ? nodesOf(program) : program.body) {
      if (node.type === 'MemberExpression') edits.push(...editsOfMeta(node, path));
      else if (node.source) edits.push(...editsOfImport(node.source, path));
    }
    return withEdits(code, edits);
  };
}

function* nodesOf(node) {
  if (typeof node.type === 'string') yield node;
  for (const child of Object.values(node))
    if (typeof child === 'object' && child !== null && !(child instanceof RegExp)) yield* nodesOf(child);
}

/** A module's own place stays that of its source: beside it are fixtures and programs. */
function editsOfMeta({ object, property, start, end }, path) {
  if (object.type !== 'MetaProperty' || !(property.name in places)) return [];
  const source = JSON.stringify(relative(dirname(compiledName(path)), path));
  return [{ start, end, text: places[property.name](`new URL(${source}, import.meta.url)`) }];
}

const places = {
  url: (url) => `${url}.href`,
  filename: (url) => `decodeURIComponent(${url}.pathname)`,
  dirname: (url) => `decodeURIComponent(new URL('.', ${url}).pathname).slice(0, -1)`,
};

/** A compiled module lies beside others as its source does; anything else stays where it is. */
function editsOfImport(source, path) {
  const { start, end } = source;
  const before = source.type === 'TemplateLiteral' ? source.quasis[0].value.cooked : source.value;
  if (!/^\.{1,2}\//.test(before ?? '')) return [];
  if (source.type === 'TemplateLiteral')
    return [{ start: end, end, text: `.replace(/\\.ts(?=$|\\?)/, '.js')` }];
  const imported = resolve(dirname(path), before);
  const wanted = isSource(imported) ? compiledName(imported) : imported;
  const text = relative(dirname(compiledName(path)), wanted);
  return [{ start, end, text: JSON.stringify(text.startsWith('.') ? text : `./${text}`) }];
}

function withEdits(code, edits) {
  let text = '';
  let at = 0;
  for (const edit of edits.sort((a, b) => a.start - b.start)) {
    text += code.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return text + code.slice(at);
}

/** Milliseconds since 1970; 0 where there is no such file. */
function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function findFiles(dir) {
  if (changedAt(dir) === 0) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : findFiles(path);
    return [path];
  });
}
