/** Packages, native objects and drift of a bundle in the account. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDrift } from '../../../src/analysis/modules/drift.ts';
import { joinModules, type ModuleParts } from '../../../src/analysis/modules/join-modules.ts';

const zod = {
  name: 'zod',
  version: '3.22.4',
  path: '/app/node_modules/zod',
  requested: '^3.22.0',
  scripts: 3,
};
const program = { name: 'shop', version: '1.0.0', path: '/app', isProgram: true, scripts: 9 };
const differences = [
  {
    name: 'zod',
    path: 'node_modules/zod',
    requested: '^3.22.0',
    locked: '3.23.0',
    installed: '3.22.4',
    problem: 'another version',
  },
  { name: 'left-pad', path: 'node_modules/left-pad', locked: '1.3.0', problem: 'locked but not installed' },
];
const drift = { lockFile: '/app/package-lock.json', kind: 'npm' as const, differences, compared: 2 };
const join = (parts: Partial<ModuleParts>) => joinModules({ packages: [], nativeModules: [], ...parts });

test('nothing is nothing', () => {
  assert.deepEqual(join({}), { modules: { packages: [], native: [] }, unusual: [] });
});

test('a loaded package carries its difference; one that is missing is listed with it', () => {
  const { modules, unusual } = join({ packages: [program, zod], drift });
  assert.deepEqual(modules.packages, [
    { name: 'shop', version: '1.0.0', path: '/app' },
    {
      name: 'zod',
      version: '3.22.4',
      path: '/app/node_modules/zod',
      requested: '^3.22.0',
      drift: 'package-lock.json pins 3.23.0, installed is 3.22.4 (asked for: ^3.22.0)',
    },
    {
      name: 'left-pad',
      path: '/app/node_modules/left-pad',
      drift: 'package-lock.json pins 1.3.0, none is installed',
    },
  ]);
  assert.deepEqual(unusual, []);
});

test('a difference belongs to the copy at its path', () => {
  const inner = { ...zod, version: '4.0.1', path: '/app/node_modules/agent/node_modules/zod' };
  const { modules } = join({
    packages: [inner, zod],
    drift: { ...drift, differences: [differences[0] as (typeof differences)[number]] },
  });
  assert.deepEqual(
    modules.packages.map((p) => p.drift !== undefined),
    [false, true],
  );
});

test('copies of one package are told, by version', () => {
  const { unusual } = join({
    packages: [
      { ...zod, version: '10.0.0', path: '/app/node_modules/b/node_modules/zod' },
      zod,
      { ...zod, path: '/app/node_modules/zod' },
      program,
    ],
  });
  assert.deepEqual(unusual, [
    {
      level: 'notice',
      fact: 'zod is loaded twice: 3.22.4 from /app/node_modules/zod, 10.0.0 from /app/node_modules/b/node_modules/zod',
      part: 'packages.json',
    },
  ]);
});

test('many copies and many duplicates are cut, and counted', () => {
  const packages = Array.from({ length: 60 }, (_, n) => ({ ...zod, name: `p${n % 10}`, path: `/app/${n}` }));
  const facts = join({ packages }).unusual.map(({ fact }) => fact);
  assert.equal(facts.length, 6);
  assert.match(facts[0] ?? '', /^p0 is loaded 6 times: .*, 2 more$/);
  assert.equal(facts[5], '5 more packages are loaded more than once');
});

test('what the lock file alone names is no copy', () => {
  const two = [1, 2].map((n) => ({ name: 'x', path: `node_modules/${n}/x`, locked: '1.0.0', problem: 'p' }));
  assert.deepEqual(join({ drift: { lockFile: '/app/yarn.lock', differences: two } }).unusual, []);
});

test('every kind of difference is a sentence', () => {
  assert.equal(
    describeDrift({ name: 'a', installed: '1.0.0', problem: 'p' }, '/x/pnpm-lock.yaml'),
    'pnpm-lock.yaml does not name it, installed is 1.0.0',
  );
  assert.equal(describeDrift({ name: 'a', problem: 'no entry' }, ''), 'no entry');
  assert.equal(
    describeDrift({ name: 'a', locked: '1.0.0', problem: 'p' }, ''),
    'the lock file pins 1.0.0, none is installed',
  );
});

test('native objects come in the order of their addresses', () => {
  const at = (base: string) => ({ path: `/lib/${base}`, base, end: `${base}f` });
  const { modules } = join({
    nativeModules: [at('0x7f0000000000'), at('0x400000'), { ...at('0x55d0'), buildId: 'ab' }],
  });
  assert.deepEqual(
    modules.native.map(({ base }) => base),
    ['0x55d0', '0x400000', '0x7f0000000000'],
  );
  assert.equal(modules.native[0]?.buildId, 'ab');
});

test('hostile: names of Object.prototype, and 20,000 packages with 20,000 differences', () => {
  const names = ['__proto__', 'constructor', 'toString'];
  assert.equal(join({ packages: names.map((name) => ({ ...zod, name })) }).modules.packages.length, 3);
  const many = Array.from({ length: 20_000 }, (_, n) => ({
    ...zod,
    name: `p${n}`,
    path: `/app/node_modules/p${n}`,
  }));
  const all = many.map(({ name }) => ({
    name,
    path: `node_modules/${name}`,
    locked: '9.0.0',
    installed: '3.22.4',
    problem: 'p',
  }));
  const { modules } = join({
    packages: many,
    drift: { lockFile: '/app/package-lock.json', differences: all },
  });
  assert.ok(modules.packages.every((p) => p.drift !== undefined));
});
