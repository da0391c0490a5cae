/**
 * Names that a newer Node has and the Node of the process lacked. The versions are those of Node's documentation ("Added in") and, for
 * the language, the first even release with the V8 that has it: a process of an odd release in between may have it, and
 * then no such error occurs. `newer-node.test.ts` asks the installed Nodes.
 */
import type { ErrorFacts } from '../../../model/account.ts';

/** Names of globals and their static methods. */
export const globalsSince: Record<string, string> = {
  ...since('22', [
    'Array.fromAsync',
    'Iterator',
    'Iterator.from',
    'JSON.rawJSON',
    'Map.groupBy',
    'Object.groupBy',
    'Promise.withResolvers',
    'WebSocket',
    'navigator',
  ]),
  ...since('24', [
    'Atomics.pause',
    'CloseEvent',
    'DisposableStack',
    'AsyncDisposableStack',
    'Error.isError',
    'Float16Array',
    'Intl.DurationFormat',
    'Math.f16round',
    'Promise.try',
    'RegExp.escape',
    'SuppressedError',
    'URLPattern',
  ]),
  ...since('26', [
    'ErrorEvent',
    'Iterator.concat',
    'Temporal',
    'Uint8Array.fromBase64',
    'Uint8Array.fromHex',
  ]),
};

/** Exports of Node's modules. */
export const exportsSince: Record<string, Record<string, string>> = {
  assert: { partialDeepStrictEqual: '22.13' },
  crypto: { hash: '20.12' },
  fs: { glob: '22', globSync: '22' },
  'fs/promises': { glob: '22' },
  module: {
    enableCompileCache: '22.1',
    findPackageJSON: '22.14',
    registerHooks: '22.15',
    stripTypeScriptTypes: '22.13',
  },
  path: { matchesGlob: '20.17' },
  process: { getBuiltinModule: '20.16', loadEnvFile: '20.12' },
  util: { getCallSites: '22.12', parseEnv: '20.12', styleText: '20.12' },
  zlib: {
    crc32: '20.15',
    ...since('22.15', ['createZstdCompress', 'zstdCompress', 'zstdCompressSync', 'zstdDecompressSync']),
  },
};

/** Whole modules. `node:sqlite` needed a flag before 22.13. */
export const modulesSince: Record<string, string> = { 'node:sqlite': '22.13' };

/** Methods whose names nothing else is likely to have; the class is not known from the message. */
export const methodsSince: Record<string, { of: string; since: string }> = {
  ...methods('Set', '22', [
    'difference',
    'intersection',
    'isDisjointFrom',
    'isSubsetOf',
    'isSupersetOf',
    'symmetricDifference',
    'union',
  ]),
  ...methods('ArrayBuffer', '22', ['transferToFixedLength']),
  ...methods('Map', '26', ['getOrInsert', 'getOrInsertComputed']),
  ...methods('Uint8Array', '26', ['setFromBase64', 'toBase64', 'toHex']),
};

/** Of iterators. Arrays have methods of these names too, so they count only behind a call that returns an iterator. */
const iteratorMethods =
  /\.(?:values|keys|entries|matchAll)\(\.\.\.\)\.(drop|every|filter|find|flatMap|forEach|map|reduce|some|take|toArray)$/;
const iteratorsSince = '22';

/** What is missing in this version of Node, and the version that has it. */
export interface MissingBuiltIn {
  name: string;
  since: string;
  /** The name of a value, if the name above is only right if that value is of this class. */
  ifOf?: { value: string; of: string };
}

/** The advice for an error that says that a name is missing which a newer Node has; otherwise undefined. */
export function newerNodeStep(error: ErrorFacts, nodeVersion: string | undefined): string | undefined {
  const missing = missingBuiltIn(error, nodeVersion);
  if (!missing || nodeVersion === undefined) return undefined;
  const { name, since, ifOf } = missing;
  const said = `Node ${plainVersion(nodeVersion)} has no ${name}; Node ${since} and later have it. Run the program with such a Node, or do without it.`;
  return ifOf ? `If ${ifOf.value} is ${ifOf.of}: ${said}` : said;
}

export function missingBuiltIn(
  error: ErrorFacts,
  nodeVersion: string | undefined,
): MissingBuiltIn | undefined {
  if (nodeVersion === undefined) return undefined;
  const found = named(error, nodeVersion);
  return found && isBefore(nodeVersion, found.since) ? found : undefined;
}

function named({ name, code, message = '' }: ErrorFacts, version: string): MissingBuiltIn | undefined {
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') return inModules(/: (node:[\w/]+)$/.exec(message)?.[1]);
  const [, global] = (name === 'ReferenceError' && /^([\w$]+) is not defined$/.exec(message)) || [];
  if (global !== undefined) return inGlobals(global);
  if (name === 'SyntaxError') {
    const [, module, wanted] =
      /^The requested module '([^'\n]+)' does not provide an export named '([^'\n]+)'/.exec(message) ?? [];
    return module !== undefined && wanted !== undefined ? inExports(module, wanted) : undefined;
  }
  const [, called] =
    (name === 'TypeError' &&
      /^(?:\(intermediate value\)\.|new )?(.+) is not a (?:function|constructor)$/.exec(message)) ||
    [];
  return called === undefined ? undefined : (calledGlobal(called, version) ?? ofValue(called));
}

/** A global that this Node lacks is "not defined": what is called by its name is the program's own, or that of a package. */
function calledGlobal(called: string, version: string): MissingBuiltIn | undefined {
  const name = called.replace(/^globalThis\./, '');
  const [root = ''] = name.split('.');
  if (name !== called) return inGlobals(name);
  if (root === name) return undefined;
  const since = Object.hasOwn(globalsSince, root) ? globalsSince[root] : undefined;
  return since !== undefined && isBefore(version, since) ? undefined : inGlobals(name);
}

/** Calls are printed as they are written: `fs.globSync`, compiled from an import `(0 , fs_1.globSync)`, or `globSync`. */
function ofValue(called: string): MissingBuiltIn | undefined {
  const text = /^\(0 ?, ?(.+)\)$/.exec(called)?.[1] ?? called;
  const iterator = iteratorMethods.exec(text)?.[1];
  // Those of `Object` return arrays.
  if (iterator !== undefined && !/^Object\.\w+\(\.\.\.\)\.\w+$/.test(text))
    return {
      name: `Iterator.prototype.${iterator}`,
      since: iteratorsSince,
      ifOf: { value: text.slice(0, -iterator.length - 1), of: 'an iterator of the language' },
    };
  const at = text.lastIndexOf('.');
  const [value, method] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const known = Object.hasOwn(methodsSince, method) ? methodsSince[method] : undefined;
  if (known && value !== '')
    return {
      name: `${known.of}.prototype.${method}`,
      since: known.since,
      ifOf: { value, of: `${/^[AEIOU]/.test(known.of) ? 'an' : 'a'} ${known.of}` },
    };
  // Compilers name the variable of an import after the module.
  const variable = value.replace(/_\d+(?:\.default)?$|_\d+$/, '');
  for (const [module, names] of Object.entries(exportsSince)) {
    const since = Object.hasOwn(names, method) ? names[method] : undefined;
    if (since === undefined) continue;
    if (value === 'process' && module === 'process') return { name: `process.${method}`, since };
    const isOfModule = variable === module || variable === module.replace('/', '_');
    // A bare name is told only if it can hardly be another function.
    const isBare = value === '' && /[a-z][A-Z]/.test(method);
    if (isOfModule || isBare)
      return {
        name: `${module}.${method}`,
        since,
        ifOf: { value: isBare ? method : value, of: `${isBare ? 'that of' : 'the module'} node:${module}` },
      };
  }
  return undefined;
}

function inGlobals(name: string): MissingBuiltIn | undefined {
  const since = Object.hasOwn(globalsSince, name) ? globalsSince[name] : undefined;
  return since === undefined ? undefined : { name, since };
}

function inModules(name: string | undefined): MissingBuiltIn | undefined {
  const since = name !== undefined && Object.hasOwn(modulesSince, name) ? modulesSince[name] : undefined;
  return since === undefined || name === undefined ? undefined : { name, since };
}

function inExports(specifier: string, wanted: string): MissingBuiltIn | undefined {
  const module = specifier.replace(/^node:/, '');
  const names = Object.hasOwn(exportsSince, module) ? exportsSince[module] : undefined;
  const since = names && Object.hasOwn(names, wanted) ? names[wanted] : undefined;
  return since === undefined ? undefined : { name: `node:${module}.${wanted}`, since };
}

function since(version: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, version]));
}

function methods(
  of: string,
  version: string,
  names: readonly string[],
): Record<string, { of: string; since: string }> {
  return Object.fromEntries(names.map((name) => [name, { of, since: version }]));
}

const plainVersion = (version: string): string => version.replace(/^v/, '');

function isBefore(version: string, other: string): boolean {
  const [major = 0, minor = 0] = plainVersion(version).split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  if (Number.isNaN(major)) return false;
  return major !== otherMajor ? major < otherMajor : minor < otherMinor;
}
