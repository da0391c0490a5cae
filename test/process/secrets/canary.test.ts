/**
 * The canary: if the redactor is broken, in whatever way, the parts are withheld and no secret is written. If it works, the
 * canary has no visible effect.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { after, test } from 'node:test';
import { openBundle } from '../../../src/bundle/read/reader.ts';
import { nodesInTurn, sampleOf, testNodes } from '../../support/run/test-nodes.ts';
import { buildLeakyPreload, type Fault, faults } from '../../support/secrets/leaky-preload.ts';
import { readTree } from '../../support/secrets/written-files.ts';
import { bundlesIn, type Outcome, runVictim, temporaryFolder } from '../../support/victims/run-victim.ts';
import type { Victim } from '../../support/victims/victims.ts';

const newest = testNodes.at(-1) ?? assert.fail('no Node');
const built: string[] = [];
after(() => {
  for (const file of built) rmSync(dirname(file), { recursive: true });
});

const secret = ['pw', Math.random().toString(36).slice(2), Math.random().toString(36).slice(2)].join('X9');
const armed = { AGENTDUMP_LOCALS: 'uncaught', AGENTDUMP_HEAP: 'always', DB_PASSWORD: secret };
const victim: Victim = { file: 'throws/throw-with-context.cjs', bundles: [] };

function dieUnder(preload: string | undefined, dir: string, node = newest): Promise<Outcome> {
  const flags = preload ? { ...victim, flags: ['--require', preload] } : victim;
  return runVictim(node, flags, { preload: preload === undefined, dir, env: armed });
}

for (const fault of sampleOf(Object.keys(faults) as Fault[], 6))
  test(`a redactor that ${fault}: no part of it is kept, and each gap says why`, async (t) => {
    const preload = await buildLeakyPreload(fault);
    built.push(preload);
    const dir = temporaryFolder(t);
    const outcome = await dieUnder(preload, dir);
    const [name = assert.fail(`no bundle: ${outcome.ownLines}`)] = bundlesIn(dir);
    const reader = openBundle(join(dir, 'dumps', name));
    // What kind of death it was, in fields without data of the program, was written before there was a redactor.
    assert.deepEqual(
      reader.parts.map((part) => part.name),
      ['trigger.json'],
    );
    const { program, ...told } = reader.readJson<Record<string, unknown>>('trigger.json') ?? {};
    assert.equal(program, basename(victim.file, extname(victim.file)));
    for (const [field, value] of Object.entries(told))
      assert.match(String(value), /^[\w.:-]{1,40}$/, `${field} of the plain trigger`);
    const reason = fault === 'throws' ? /collecting it failed/ : /withheld as a whole: .*planted secret/;
    for (const part of [
      'trigger.json',
      'error.json',
      'agent.json',
      'environment.json',
      'locals.json',
      'report.json',
    ])
      assert.match(reader.gaps.find((gap) => gap.part === part)?.reason ?? `no gap for ${part}`, reason);
    const heap = reader.gaps.find((gap) => gap.part === 'heap.heapsnapshot.gz')?.reason ?? '';
    assert.match(heap, /withheld as a whole: a planted secret came through/);
    reader.close();
    for (const { path, text } of readTree(dir)) assert.ok(!text.includes(secret), `${path} holds the secret`);
    assert.ok(!outcome.ownLines.join().includes(secret));
  });

for (const node of nodesInTurn)
  test(`${node.name}: with a redactor that works, every part is there and nothing tells of the canary`, async (t) => {
    const dir = temporaryFolder(t);
    const outcome = await dieUnder(undefined, dir, node);
    assert.deepEqual(JSON.parse(outcome.stdout), [], 'the host’s own variables are as they were');
    const [name = assert.fail(`no bundle: ${outcome.ownLines}`)] = bundlesIn(dir);
    const reader = openBundle(join(dir, 'dumps', name));
    const names = reader.parts.map((part) => part.name);
    for (const part of [
      'agent.json',
      'environment.json',
      'locals.json',
      'report.json',
      'heap.heapsnapshot.gz',
    ])
      assert.ok(names.includes(part), `${part} is missing: ${JSON.stringify(reader.gaps)}`);
    const counts = reader.redactions.filter((entry) => entry.part === 'environment.json');
    assert.deepEqual(counts, [{ rule: 'password', part: 'environment.json', count: 1 }]);
    assert.ok(!reader.redactions.some((entry) => entry.part === 'trigger.json'));
    const report = JSON.parse(String(reader.readPart('report.json'))) as Record<string, unknown>;
    assert.equal(report['environmentVariables'], undefined, 'the variables are in environment.json');
    assert.ok(report['javascriptHeap'] && report['libuv'], 'all else of the report is there');
    reader.close();
    // Names remain in the heap snapshot, including those of our own functions.
    for (const { path, text } of readTree(dir).filter((file) => !file.path.includes('.heapsnapshot')))
      assert.ok(!/canary/i.test(text), path);
  });
