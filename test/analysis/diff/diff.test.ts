/** Two accounts compared: what is reported as a difference, what is noise, and what is never reported. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { analyzeBundle } from '../../../src/analysis/analyze.ts';
import { computeDiff } from '../../../src/analysis/diff/diff.ts';
import type { Account } from '../../../src/model/account.ts';
import { renderDiffMarkdown } from '../../../src/report/diff/markdown.ts';
import { renderDiff } from '../../../src/report/diff/text.ts';
import { fuzzRuns } from '../../support/run/fuzz-runs.ts';
import { commonParts, memoryBundle, synthParts } from '../../support/synth/synth-analysis-bundle.ts';

const analyze = (changes: Record<string, unknown> = {}) => analyzeBundle(memoryBundle(synthParts(changes)));
const changed = (part: string, fields: Record<string, unknown>) => ({
  [part]: { ...(commonParts()[part] as object), ...fields },
});
const rowsOf = ({ changes }: ReturnType<typeof computeDiff>, section: string) =>
  changes.filter((change) => change.section === section);

test('a bundle does not differ from itself', async () => {
  const account = await analyze();
  const diff = computeDiff([account], account);
  assert.equal(diff.schema, 'agentdump.diff/1');
  assert.equal(diff.sameSignature, true);
  assert.deepEqual(diff.changes, []);
  assert.deepEqual(diff.leads, []);
  assert.ok(diff.alike.includes('verdict') && diff.alike.includes('frames'));
  assert.match(renderDiff(diff), /^The same death, no differences/);
});

test('a package that changed and is on the stack is the first lead', async () => {
  const before = await analyze();
  const after: Account = structuredClone(before);
  const queue = after.modules?.packages.find(({ name }) => name === 'p-queue');
  after.modules?.packages.push({ name: 'brand-new', version: '1.0.0', path: '/x' });
  if (queue) queue.version = '99.0.0';
  else after.modules?.packages.push({ name: 'p-queue', version: '99.0.0', path: '/x' });
  const diff = computeDiff([before], after);
  assert.match(diff.leads[0]?.fact ?? '', /^p-queue is on the stack of the death, and /);
  assert.deepEqual(
    rowsOf(diff, 'packages')
      .map(({ subject }) => subject)
      .sort(),
    ['brand-new', 'p-queue'],
  );
});

test('a moved line is a changed frame; a new function is an added one', async () => {
  const before = await analyze();
  const after: Account = structuredClone(before);
  const frames = after.error?.frames ?? assert.fail();
  frames[0] = { ...(frames[0] ?? assert.fail()), line: 40, column: 2 };
  frames.splice(1, 0, {
    function: 'retry',
    file: '/srv/agent/src/retry.js',
    line: 3,
    inApp: true,
    trust: 'stack-text',
  });
  const rows = rowsOf(computeDiff([before], after), 'frames');
  assert.deepEqual(
    rows.map(({ change }) => change),
    ['changed', 'added'],
  );
  assert.match(String(rows[0]?.after), /plan\.(ts|js):40:2/);
  assert.match(String(rows[1]?.after), /^retry \(src\/retry\.js:3\)/);
});

test('of a withheld variable only its name and the rule are compared', async () => {
  const before = await analyze();
  const after: Account = structuredClone(before);
  const variables = after.environment?.variables ?? assert.fail();
  variables['MODEL_API_KEY'] = { value: 'now in clear' };
  variables['REGION'] = { value: 'eu' };
  variables['SHLVL'] = { value: '9' };
  const rows = rowsOf(computeDiff([before], after), 'environment');
  assert.deepEqual(
    rows.map(({ subject, change, before }) => [subject, change, before]),
    [
      ['MODEL_API_KEY', 'changed', '(withheld: name:api-key)'],
      ['REGION', 'added', undefined],
    ],
  );
});

test('memory must differ by more than noise, a limit by anything', async () => {
  const before = await analyze();
  const grown = (rssBytes: number, heapLimitBytes: number): Account => {
    const account = structuredClone(before);
    Object.assign(account.memory ?? assert.fail(), { rssBytes, heapLimitBytes });
    return account;
  };
  const limit = before.memory?.heapLimitBytes ?? 0;
  assert.deepEqual(rowsOf(computeDiff([before], grown(190_000_000, limit)), 'memory'), []);
  const diff = computeDiff([before], grown(900_000_000, limit - 1));
  assert.equal(rowsOf(diff, 'memory')[0]?.change, 'grew');
  assert.equal(rowsOf(diff, 'limits')[0]?.subject, 'heap limit');
  assert.match(diff.leads.map(({ fact }) => fact).join(), /heap limit is lower.*rss grew most/);
});

test('a baseline of several: only what none of it has', async () => {
  const accounts = await Promise.all(
    ['1024', '2048'].map((soft) =>
      analyze(changed('process.json', { limits: { 'Max open files': { soft, hard: '4096' } } })),
    ),
  );
  const within = await analyze(
    changed('process.json', { limits: { 'Max open files': { soft: '2048', hard: '4096' } } }),
  );
  assert.deepEqual(rowsOf(computeDiff(accounts, within), 'limits'), []);
  const outside = await analyze(
    changed('process.json', { limits: { 'Max open files': { soft: '64', hard: '4096' } } }),
  );
  const [row] = rowsOf(computeDiff(accounts, outside), 'limits');
  assert.deepEqual([row?.before, row?.after], [['1024 (hard 4096)', '2048 (hard 4096)'], '64 (hard 4096)']);
});

const conversation = (...said: [string, unknown][]): Account => ({
  schema: 'agentdump.analysis/1',
  gaps: [],
  agent: {
    runs: [
      {
        id: 'r1',
        status: 'running',
        steps: [],
        modelCalls: [],
        toolCalls: [],
        pending: [],
        messages: said.map(([role, content]) => ({ role, content })),
      },
    ],
  },
});

test('the conversations part where content differs, not where ids do', () => {
  const asked = (id: string) => [{ type: 'tool_call', id, name: 'search', arguments: { q: 1 } }];
  const before = conversation(['user', 'hi'], ['assistant', asked('call_a')], ['tool', 'found']);
  const after = conversation(['user', 'hi'], ['assistant', asked('call_b')], ['tool', 'nothing']);
  const { fork, leads } = computeDiff([before], after);
  assert.equal(fork?.index, 2);
  assert.equal(fork?.after?.text, 'nothing');
  assert.match(leads.at(-1)?.fact ?? '', /part at message 3, from tool/);
  assert.equal(computeDiff([before], conversation(['user', 'hi'])).fork?.after, undefined);
});

test('sections that a side does not tell are named, not invented', () => {
  const { notCompared, changes } = computeDiff([conversation()], {
    schema: 'agentdump.analysis/1',
    gaps: [],
  });
  assert.equal(changes.length, 0);
  assert.match(notCompared.find(({ section }) => section === 'agent')?.reason ?? '', /by after/);
});

test('whatever an account says, the difference is rendered, and says nothing of a bundle with itself', async () => {
  const base = await analyze();
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  await fc.assert(
    fc.property(
      fc.dictionary(text, text),
      fc.dictionary(text, fc.array(text)),
      text,
      (variables, properties, message) => {
        const other: Account = structuredClone(base);
        Object.assign(other.environment ?? {}, {
          variables: Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, { value }])),
        });
        Object.assign(other.error ?? {}, { message, properties });
        const diff = computeDiff([base], other);
        for (const page of [renderDiff(diff), renderDiffMarkdown(diff)])
          assert.doesNotMatch(page, /[\x00-\x08\x0b-\x1f\x7f]/);
        assert.deepEqual(computeDiff([other], structuredClone(other)).changes, []);
      },
    ),
    { numRuns: fuzzRuns(100) },
  );
});

test('ports that the system chose are no difference; where the program connected to is', async () => {
  const connections = (client: number, own: number, server: string) => {
    const account = structuredClone(before);
    Object.assign(account.environment ?? assert.fail(), {
      handles: [],
      connections: [
        { protocol: 'tcp6', local: '[::]:8080', remote: '[::]:0', state: 'LISTEN' },
        { protocol: 'tcp', local: `127.0.0.1:${own}`, remote: '0.0.0.0:0', state: 'LISTEN' },
        {
          protocol: 'tcp6',
          local: '[::ffff:10.0.0.1]:8080',
          remote: `[::ffff:10.0.0.9]:${client}`,
          state: 'ESTABLISHED',
        },
        {
          protocol: 'tcp',
          local: `127.0.0.1:${client + 1}`,
          remote: `127.0.0.1:${own}`,
          state: 'ESTABLISHED',
        },
        { protocol: 'tcp', local: `10.0.0.1:${client + 2}`, remote: server, state: 'ESTABLISHED' },
      ],
    });
    return account;
  };
  const before = await analyze();
  const handlesOf = (a: Account, b: Account) => rowsOf(computeDiff([a], b), 'handles');
  const first = connections(40001, 36001, '10.0.0.5:5432');
  assert.deepEqual(handlesOf(first, connections(50001, 46001, '10.0.0.5:5432')), []);
  assert.deepEqual(
    handlesOf(first, connections(50001, 46001, '10.0.0.6:5432')).map(({ subject }) => subject),
    ['connection to 10.0.0.6:5432 ESTABLISHED', 'connection to 10.0.0.5:5432 ESTABLISHED'],
  );
});
