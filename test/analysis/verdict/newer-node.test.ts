/** What a newer Node has: the table against the installed Nodes, and the advice for the messages that an older one gives. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import {
  exportsSince,
  globalsSince,
  methodsSince,
  modulesSince,
  newerNodeStep,
} from '../../../src/analysis/verdict/errors/newer-node.ts';
import { reachVerdict } from '../../../src/analysis/verdict/reach-verdict.ts';
import type { ErrorFacts } from '../../../src/model/account.ts';
import { testNodes } from '../../support/run/test-nodes.ts';

const step = (name: string, message: string, version = '20.20.2', code?: string): string | undefined =>
  newerNodeStep({ name, message, ...(code !== undefined && { code }) }, version);

const toldOf: [string, string, RegExp, string?][] = [
  [
    'TypeError',
    'Promise.withResolvers is not a function',
    /^Node 20\.20\.2 has no Promise\.withResolvers; Node 22 /,
  ],
  ['TypeError', '(intermediate value).x is not a function', /^$/],
  ['TypeError', 'm.values(...).map is not a function', /^If m\.values\(\.\.\.\) is an iterator .*Node 22/],
  ['TypeError', 'ids.union is not a function', /^If ids is a Set: Node .* has no Set\.prototype\.union;/],
  [
    'TypeError',
    '(0 , fs_1.globSync) is not a function',
    /^If fs_1 is the module node:fs: .* no fs\.globSync; Node 22/,
  ],
  ['TypeError', 'globSync is not a function', /^If globSync is that of node:fs: /],
  ['TypeError', 'zlib.zstdCompressSync is not a function', /Node 22\.15 and later/],
  ['TypeError', 'process.getBuiltinModule is not a function', /^$/],
  ['TypeError', 'rows.map is not a function', /^$/],
  ['TypeError', 'constructor is not a function', /^$/],
  // A missing global is not defined: these are the program's own variables.
  ['TypeError', 'WebSocket is not a constructor', /^$/],
  ['TypeError', 'Temporal is not a constructor', /^$/],
  ['TypeError', 'Iterator.from is not a function', /^$/],
  ['TypeError', 'globalThis.WebSocket is not a constructor', /^Node 20\.20\.2 has no WebSocket; /],
  ['TypeError', 'Promise.withResolver is not a function', /^$/],
  ['ReferenceError', 'Storage is not defined', /^$/],
  // Without a flag it is undefined on Node 26 as well.
  ['ReferenceError', 'localStorage is not defined', /^$/],
  ['TypeError', 'Object.entries(...).toArray is not a function', /^$/],
  ['TypeError', 'x.toString is not a function', /^$/],
  ['ReferenceError', 'WebSocket is not defined', /^Node 20\.20\.2 has no WebSocket; Node 22 and later/],
  ['ReferenceError', 'constructor is not defined', /^$/],
  [
    'SyntaxError',
    "The requested module 'fs/promises' does not provide an export named 'glob'",
    /node:fs\/promises\.glob; Node 22/,
  ],
  [
    'Error',
    'No such built-in module: node:sqlite',
    /no node:sqlite; Node 22\.13/,
    'ERR_UNKNOWN_BUILTIN_MODULE',
  ],
];

for (const [name, message, said, code] of toldOf)
  test(`the Node that has what is missing: ${message}`, () =>
    assert.match(step(name, message, '20.20.2', code) ?? '', said));

test('a Node that has the name gets no such advice', () => {
  assert.equal(step('TypeError', 'Promise.withResolvers is not a function', 'v22.0.0'), undefined);
  assert.equal(step('TypeError', 'zlib.zstdCompressSync is not a function', '22.15.1'), undefined);
  assert.match(step('TypeError', 'zlib.zstdCompressSync is not a function', 'v22.14.0') ?? '', /22\.15/);
  assert.equal(
    newerNodeStep({ name: 'TypeError', message: 'Promise.try is not a function' }, undefined),
    undefined,
  );
});

function verdictOf(error: ErrorFacts) {
  return reachVerdict({
    account: {
      schema: 'agentdump.analysis/1',
      bundle: { id: '1', path: '/b', capturedAt: '', sealed: true, parts: [] },
      process: { cwd: '/srv/app', uptimeMs: 80, nodeVersion: 'v20.20.2' },
      error,
      gaps: [],
    },
    trigger: { kind: 'uncaught-exception', isMainThread: true, handledByHost: false, phase: 'starting' },
  });
}

test('an export that a built-in module lacks is not that of a package', () => {
  const message = "The requested module 'fs/promises' does not provide an export named 'glob'";
  const stackText = `file:///srv/app/a.mjs:1\nimport { glob } from 'fs/promises';\n         ^^^^\nSyntaxError: ${message}\n    at ModuleJob._instantiate (node:internal/modules/esm/module_job:180:21)`;
  const { title, nextSteps } = verdictOf({ name: 'SyntaxError', message, stackText });
  assert.equal(title, 'Node 20.20.2 has no export glob in node:fs/promises, imported in a.mjs:1');
  assert.match(nextSteps.join('\n'), /Node 22 and later have it/);
  const other = verdictOf({ name: 'SyntaxError', message: message.replace("'glob'", "'globs'"), stackText });
  assert.match(other.title, /has no export globs in node:fs\/promises/);
  assert.doesNotMatch(other.nextSteps.join('\n'), /and later have it/);
});

test('a name that may be that of something else leaves the usual advice', () => {
  const name = 'TypeError';
  const { nextSteps } = verdictOf({ name, message: '_.union is not a function' });
  assert.match(nextSteps.join('\n'), /If _ is a Set: /);
  const usual = verdictOf({ name, message: '_.join is not a function' }).nextSteps;
  for (const step of usual) assert.ok(nextSteps.includes(step), step);
});

test('the advice is part of the account of an uncaught exception', () => {
  const { nextSteps } = verdictOf({ name: 'TypeError', message: 'Promise.withResolvers is not a function' });
  assert.match(nextSteps.join('\n'), /Node 22 and later have it/);
  assert.doesNotMatch(nextSteps.join('\n'), /changed package/);
});

/** Prints the names of the table that this Node has. */
const has = `
const { globals, exports, modules, methods } = JSON.parse(process.argv[1]);
const isIn = (at, name) => at != null && name in Object(at);
console.log(JSON.stringify([
  ...globals.filter((name) => { const [one, key] = name.split('.'); return isIn(globalThis, one) && (key === undefined || isIn(globalThis[one], key)); }),
  ...exports.filter((name) => { const [module, key] = name.split(' '); return isIn(require('node:' + module), key); }),
  ...modules.filter((name) => require('node:module').isBuiltin(name)),
  ...methods.filter((name) => { const [of, key] = name.split(' '); return isIn(globalThis[of].prototype, key); }),
]));`;

for (const { name, path } of testNodes)
  test(`${name} has what the table says`, () => {
    const since = new Map([
      ...Object.entries(globalsSince),
      ...Object.entries(exportsSince).flatMap(([module, names]) =>
        Object.entries(names).map(([key, version]): [string, string] => [`${module} ${key}`, version]),
      ),
      ...Object.entries(modulesSince),
      ...Object.entries(methodsSince).map(([key, one]): [string, string] => [`${one.of} ${key}`, one.since]),
    ]);
    const keys = {
      globals: Object.keys(globalsSince),
      exports: [...since.keys()].filter((key) => key.includes(' ') && key.split(' ')[0]! in exportsSince),
      modules: Object.keys(modulesSince),
      methods: Object.entries(methodsSince).map(([key, { of }]) => `${of} ${key}`),
    };
    const options = {
      encoding: 'utf8' as const,
      stdio: ['ignore' as const, 'pipe' as const, 'ignore' as const],
    };
    const found = JSON.parse(execFileSync(path, ['-e', has, JSON.stringify(keys)], options)) as string[];
    const version = execFileSync(path, ['-p', 'process.versions.node'], options).trim();
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const expected = [...since].filter(([, from]) => {
      const [wantedMajor = 0, wantedMinor = 0] = from.split('.').map(Number);
      return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
    });
    assert.deepEqual(found.sort(), expected.map(([key]) => key).sort());
  });
