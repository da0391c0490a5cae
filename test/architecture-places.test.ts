/**
 * Whoever adds a verdict, a provider, a runner or a rule fills in several places, and the compiler asks for some of them only.
 * This asks for the others, so that nothing is added by half. The name of the file has it run with architecture.test.ts.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ProviderFormat } from '../src/agent/calls/model-call.ts';
import { formats } from '../src/agent/providers/table.ts';
import { verdictKinds } from '../src/model/verdict.ts';
import { findReplyFormat } from '../src/replay/replies/table.ts';
import { trials } from '../src/supervise/doctor/trials.ts';
import { runners } from '../src/testing/runners/table.ts';

const root = join(fileURLToPath(import.meta.url), '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const namesIn = (folder: string): string[] => readdirSync(join(root, folder));

/** Kinds that the doctor cannot bring about by one small program. */
const untried: Record<string, string> = {
  'dependency-drift': 'needs packages that differ from their lock file',
  unknown: 'is no kind of death',
};

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
    (name) => !['table.ts', 'error-body.ts'].includes(name),
  );
  const guide = read('docs/agents.md');
  const target = { host: 'model.test', path: '/v1/x' } as Parameters<typeof findReplyFormat>[1];
  const hostile = namesIn('test/agent/providers').map((name) => read(`test/agent/providers/${name}`));
  for (const file of files) {
    const exported: Record<string, unknown> = await import(`../src/agent/providers/${file}`);
    const format = Object.values(exported).find((value) => formats.includes(value as ProviderFormat));
    assert.ok(format, `providers/table.ts does not list what ${file} exports`);
    assert.ok(
      findReplyFormat(format as ProviderFormat, target),
      `replay/replies/table.ts has none for ${file}`,
    );
    const name = file.replace(/(-chat|-responses)?\.ts$/, '');
    // Hosts that speak another provider's format are told by that one.
    if (name !== 'generic')
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
  const matrices = namesIn('test/ci');
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
      `no test/ci/matrix-${file}*`,
    );
  }
});

test('every rule of leak suspects is in the list, and has a program that leaks so', () => {
  const list = read('src/analysis/memory/suspects/suspects.ts');
  for (const file of namesIn('src/analysis/memory/rules')) {
    const [, rule] = /export const (\w+Rule)\b/.exec(read(`src/analysis/memory/rules/${file}`)) ?? [];
    if (rule !== undefined) assert.ok(list.split(rule).length > 2, `suspects.ts does not list ${rule}`);
  }
  assert.ok(existsSync(join(root, 'test/analysis/memory/rules.wide.test.ts')));
});
