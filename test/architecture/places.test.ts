/**
 * A new verdict, provider, runner or rule must be added in several places, and the compiler checks only some of them. This
 * test checks the others, so that nothing is added by half. Its folder makes it run together with imports.test.ts.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ProviderFormat } from '../../src/agent/calls/model-call.ts';
import { formats } from '../../src/agent/providers/table.ts';
import { queryFields } from '../../src/analysis/memory/query/syntax.ts';
import { causes } from '../../src/analysis/verdict/reach-verdict.ts';
import { partNames } from '../../src/bundle/layout/bundle.ts';
import { partProducers } from '../../src/capture/parts/index.ts';
import { verdictKinds } from '../../src/model/verdict.ts';
import { choosePlatform } from '../../src/platform/index.ts';
import { allShapes } from '../../src/redaction/shapes/index.ts';
import { findReplyFormat } from '../../src/replay/replies/table.ts';
import { trials } from '../../src/supervise/doctor/trials.ts';
import { runners } from '../../src/testing/runners/table.ts';
import { runnerCommands } from '../support/runners/runner-matrix.ts';
import { pretendedPlatforms } from '../support/system/pretend-platform.ts';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const namesIn = (folder: string): string[] => readdirSync(join(root, folder));
/** Paths relative to the root. */
const sourcesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);
const exportsOf = async (path: string): Promise<unknown[]> => Object.values(await import(`../../${path}`));

/** Kinds that the doctor can't produce with one small program, with the reason. */
const untried: Record<string, string> = {
  'dependency-drift': 'needs packages that differ from their lock file',
  unknown: 'is no kind of death',
};

test('every verdict has a cause that reaches it, and facts that speak for it', async () => {
  for (const path of sourcesBelow('src/analysis/verdict/causes'))
    assert.ok(
      (await exportsOf(path)).some((value) => causes.includes(value as (typeof causes)[number])),
      `reach-verdict.ts does not list what ${path} exports`,
    );
  const reached = new Set<string>(causes.map(({ kind }) => kind));
  const facts = sourcesBelow('test/analysis/verdict').map(read).join('\n');
  for (const kind of verdictKinds) {
    assert.ok(reached.has(kind), `no cause in src/analysis/verdict/causes reaches ${kind}`);
    assert.ok(facts.includes(`'${kind}'`), `no test in test/analysis/verdict expects ${kind}`);
  }
});

test('every verdict is explained, and tried by the doctor', () => {
  const rows = read('docs/read-an-account.md').split('\n');
  const tried = new Set(trials.map(({ expected }) => expected));
  for (const kind of verdictKinds) {
    assert.ok(
      rows.some((row) => row.startsWith('| `') && row.includes(`\`${kind}\``)),
      `docs/read-an-account.md has no row for ${kind}`,
    );
    assert.notEqual(tried.has(kind), kind in untried, `${kind}: a trial in supervise/doctor/trials.ts`);
  }
});

test('every provider is asked for a format, has replies for a replay, and is named in the guide', async () => {
  const files = namesIn('src/agent/providers').filter(
    (name) => !['table.ts', 'error-body.ts', 'body-shape.ts', 'recognize.ts'].includes(name),
  );
  const guide = read('docs/agents.md');
  const target = { host: 'model.test', path: '/v2/chat' } as Parameters<typeof findReplyFormat>[1];
  const hostile = namesIn('test/agent/providers').map((name) => read(`test/agent/providers/${name}`));
  for (const file of files) {
    const exported: Record<string, unknown> = await import(`../../src/agent/providers/${file}`);
    const format = Object.values(exported).find((value) => formats.includes(value as ProviderFormat));
    assert.ok(format, `providers/table.ts does not list what ${file} exports`);
    assert.ok(
      findReplyFormat(format as ProviderFormat, target),
      `replay/replies/table.ts has none for ${file}`,
    );
    const name = file.replace(/(-chat|-responses)?\.ts$/, '');
    // A host that speaks another provider's format is covered by that provider's name; the generic formats have none.
    if (!['generic', 'by-body'].includes(name))
      assert.ok(new RegExp(name, 'i').test(guide), `docs/agents.md does not name ${name}`);
    assert.ok(
      hostile.some((text) => text.includes(`providers/${file}`) || text.includes('providers/table.ts')),
      `no test in test/agent/providers reads ${file}`,
    );
  }
});

test('every framework that is listened to is in the table, tried with the real package, and named in the guide', () => {
  const table = read('src/agent/integrations/table.ts');
  const trials = namesIn('test/agents')
    .flatMap((name) => (name.endsWith('.mjs') ? read(`test/agents/${name}`) : []))
    .join('\n');
  const packages: Record<string, RegExp> = { 'AI SDK': /['"]ai['"]/, 'OpenAI Agents': /@openai\/agents/ };
  const spellings: Record<string, string> = {
    'ai-sdk': 'AI SDK',
    'mcp-stdio': 'MCP',
    'openai-agents': 'OpenAI Agents',
  };
  for (const file of namesIn('src/agent/integrations')) {
    if (!/^export function integrate[A-Z]/m.test(read(`src/agent/integrations/${file}`))) continue;
    assert.ok(table.includes(`'./${file}'`), `integrations/table.ts does not list ${file}`);
    const name = spellings[file.replace('.ts', '')] ?? file.replace('.ts', '');
    assert.ok(new RegExp(name, 'i').test(read('docs/agents.md')), `docs/agents.md does not name ${name}`);
    assert.ok((packages[name] ?? new RegExp(name, 'i')).test(trials), `no test with the real ${name}`);
  }
});

test('every runner has a suite that really dies, a matrix, and a row of what was tried', () => {
  const tried = read('src/testing/README.md').split('\n## Tried\n')[1] ?? '';
  const suites = namesIn('test/runners/suites');
  const matrices = namesIn('test/ci/matrix');
  for (const { name } of runners) {
    const file = name.replace(':', '-');
    assert.ok(read('docs/ci.md').includes(name), `docs/ci.md does not name ${name}`);
    assert.ok(tried.includes(name), `src/testing/README.md says nothing of ${name}`);
    assert.ok(
      suites.some((suite) => suite.startsWith(`${file}.`)),
      `no suite test/runners/suites/${file}.*`,
    );
    assert.ok(
      matrices.some((matrix) => matrix.startsWith(`matrix-${file}`)),
      `no test/ci/matrix/matrix-${file}*`,
    );
  }
});

test('every rule of leak suspects is in the list, and has a program that leaks so', () => {
  const list = read('src/analysis/memory/suspects/suspects.ts');
  for (const file of namesIn('src/analysis/memory/rules')) {
    const [, rule] = /export const (\w+Rule)\b/.exec(read(`src/analysis/memory/rules/${file}`)) ?? [];
    if (rule !== undefined) assert.ok(list.split(rule).length > 2, `suspects.ts does not list ${rule}`);
  }
  assert.ok(existsSync(join(root, 'test/analysis/memory/suspects/rules.wide.test.ts')));
});

/** Producers that are not in the list of parts, because they run before the first of it and after the last. */
const unlistedProducers = ['src/capture/parts/trigger.ts', 'src/capture/parts/heap/heap.ts'];

test('every part is listed where it is written, and read by the analysis', async () => {
  for (const path of sourcesBelow('src/capture/parts')) {
    if (!/^export const \w+: PartProducer\b/m.test(read(path)) || unlistedProducers.includes(path)) continue;
    const exported = await exportsOf(path);
    assert.ok(
      partProducers.some((producer) => exported.includes(producer)),
      `capture/parts/index.ts does not list what ${path} exports`,
    );
  }
  // A name after `part:` only records where a fact comes from; it does not read the part.
  const readers = sourcesBelow('src/analysis').map((path) =>
    read(path).replaceAll(/\bpart: partNames\.\w+/g, ''),
  );
  for (const key of Object.keys(partNames))
    assert.ok(
      readers.some((text) => new RegExp(`\\bpartNames\\.${key}\\b`).test(text)),
      `nothing in src/analysis reads partNames.${key}`,
    );
});

test('every field of a heap query is in the grammar, and asked for by a test', () => {
  const [, fields] = /^field +=(.+)$/m.exec(read('src/analysis/memory/README.md')) ?? [];
  assert.deepEqual(
    fields?.split('|').map((word) => word.trim()),
    queryFields,
  );
  const queries = read('test/analysis/memory/query.test.ts');
  for (const field of queryFields)
    assert.ok(new RegExp(`\\b${field}\\b`).test(queries), `no query of a test asks for ${field}`);
});

test('every family of secrets is in the list of shapes', async () => {
  const known = new Set(allShapes().map(({ rule }) => rule));
  for (const path of sourcesBelow('src/redaction/shapes')) {
    const [, name] = /^export function (\w+Shapes)\(/m.exec(read(path)) ?? [];
    if (name === undefined || path.endsWith('/index.ts')) continue;
    const { [name]: family } = await import(`../../${path}`);
    for (const { rule } of family()) assert.ok(known.has(rule), `shapes/index.ts does not list ${name}`);
  }
});

test('every file of a command is in the table', () => {
  const table = read('src/cli/registry.ts');
  for (const path of sourcesBelow('src/cli/commands')) {
    const file = path.replace('src/cli/', './');
    if (/^export default\b/m.test(read(path)))
      assert.ok(table.includes(`import('${file}')`), `registry.ts does not load ${file}`);
  }
});

test('every runner is in the table, and has a command that a matrix runs', async () => {
  for (const path of sourcesBelow('src/testing/runners')) {
    if (!/^export const \w+(: Runner\b| = \{)/m.test(read(path)) || path.endsWith('/table.ts')) continue;
    const exported = await exportsOf(path);
    assert.ok(
      runners.some((runner) => exported.includes(runner)),
      `runners/table.ts does not list what ${path} exports`,
    );
  }
  for (const { name } of runners)
    assert.ok(
      Object.keys(runnerCommands).some((command) => command.startsWith(name)),
      `test/support/runners/runner-matrix.ts runs no ${name}`,
    );
});

test('every system is chosen by its name, has a title and a column, and is pretended in a test', () => {
  const guide = read('docs/platforms.md');
  for (const path of sourcesBelow('src/platform')) {
    const [, name] = /^ {2}name: '(\w+)',$/m.exec(read(path)) ?? [];
    if (!/^ {2}\.\.\.nodeOnly,$/m.test(read(path))) continue;
    assert.ok(name, `${path} names no system`);
    const { name: chosen, title } = choosePlatform(name);
    assert.equal(chosen, name, `platform/index.ts does not choose ${path}`);
    assert.notEqual(title, name, `platform/systems/node-only.ts has no title for ${name}`);
    assert.ok(guide.includes(title), `docs/platforms.md does not speak of ${title}`);
    assert.ok(
      (pretendedPlatforms as readonly string[]).includes(name),
      `test/support/system/pretend-platform.ts pretends no ${name}`,
    );
  }
});
