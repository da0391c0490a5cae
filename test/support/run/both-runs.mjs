// Which test files test the same in `npm test` and in the wide run, so that `.ci/run` does not run them twice. Decided by the names
// that a file uses of its helpers: who takes a folder from a helper that also has the list of Nodes does not ask for Nodes.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const declaration =
  /^(?:export )?(?:default )?(?:declare )?(?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/;
const importing = /^(?:import|export)\b[^'"]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/;
const relativePath = /['"`](\.{1,2}\/[^'"`\n?]+)/g;

/** Of `testFiles` (paths from the root) those that ask nowhere whether the run is the wide one. */
export function sameInBothRuns(root, testFiles) {
  const asks = whoAsks(root);
  return testFiles.filter((path) => !asks(join(root, path)));
}

/** Of `testFiles` those that in the wide run test the same with more generated inputs, and nothing else. */
export function sameWithMoreInputs(root, testFiles) {
  const asks = whoAsks(root);
  const asksElse = whoAsks(root, join(root, 'test', 'support', 'run', 'fuzz-runs.ts'));
  return testFiles.filter((path) => asks(join(root, path)) && !asksElse(join(root, path)));
}

/**
 * @param {string} [except] a module whose questions don't count
 * @returns {(file: string) => boolean} of an absolute path; to take types of the module that knows the run is no question
 */
function whoAsks(root, except) {
  const tests = join(root, 'test');
  const answers = join(tests, 'support', 'run', 'test-nodes.ts');
  const modules = new Map();
  const known = new Map();

  function read(file) {
    const before = modules.get(file);
    if (before) return before;
    const isFile = file.startsWith(tests) && statSync(file, { throwIfNoEntry: false })?.isFile();
    const module = readModule(isFile ? readFileSync(file, 'utf8') : '', dirname(file));
    modules.set(file, module);
    return module;
  }

  /** `names` that are used of it; undefined: all, as of a test file, or of a program that a test starts. */
  function asks(file, names) {
    if (file === except) return false;
    if (file === answers) return names === undefined || names.length > 0;
    const key = `${file} ${names === undefined ? '*' : [...names].sort().join()}`;
    const answer = known.get(key);
    if (answer !== undefined) return answer;
    // For those that import each other.
    known.set(key, false);
    const { declared, imports, always } = read(file);
    const used = new Set(always);
    const mentioned = new Set();
    for (const name of names ?? declared.keys()) if (declared.has(name)) used.add(declared.get(name));
    for (const statement of used)
      for (const [word] of statement.matchAll(/[\w$]+/g)) {
        mentioned.add(word);
        if (declared.has(word)) used.add(declared.get(word));
      }
    const paths = [...used].flatMap((statement) => [...statement.matchAll(relativePath)].map((m) => m[1]));
    const usedOf = (taken) => taken?.filter(({ here }) => mentioned.has(here)).map(({ there }) => there);
    const found =
      paths.some((path) => asks(resolve(dirname(file), path))) ||
      imports.some(({ from, taken }) => asks(from, usedOf(taken)));
    known.set(key, found);
    return found;
  }
  return (file) => asks(file);
}

/** Statements of a module: by the name that they declare, and those that run in any case. Each begins in the first column. */
function readModule(text, folder) {
  const declared = new Map();
  const imports = [];
  const always = [];
  for (const statement of text.split(/^(?=[^\s})\]/*])/m)) {
    const [, from, alone] = importing.exec(statement) ?? [];
    const path = from ?? alone;
    const [, name] = declaration.exec(statement) ?? [];
    if (path?.startsWith('.'))
      imports.push({ from: resolve(folder, path), taken: takenBy(statement, alone) });
    else if (path !== undefined) continue;
    else if (name === undefined) always.push(statement);
    else declared.set(name, (declared.get(name) ?? '') + statement);
  }
  return { declared, imports, always };
}

/** The names there and here; none for types, undefined for everything. */
function takenBy(statement, alone) {
  if (alone !== undefined) return [];
  if (/^(?:import|export) type\b/.test(statement)) return [];
  const [, list] = /^import\s*\{([^}]*)\}/.exec(statement) ?? [];
  if (list === undefined) return undefined;
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one && !one.startsWith('type '))
    .map((one) => {
      const [there, here = there] = one.split(/\s+as\s+/);
      return { there, here };
    });
}
