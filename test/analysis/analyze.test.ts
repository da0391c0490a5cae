/** From parts to the account: the contract's fields, and arbitrary hostile content of a part. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { analyzeBundle } from '../../src/analysis/analyze.ts';
import { renderJson } from '../../src/report/json.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { renderText } from '../../src/report/text.ts';
import { fuzzRuns } from '../support/run/fuzz-runs.ts';
import { commonParts, memoryBundle, synthParts } from '../support/synth/synth-analysis-bundle.ts';

const analyze = (changes: Record<string, unknown> = {}) => analyzeBundle(memoryBundle(synthParts(changes)));
const changed = (part: string, fields: Record<string, unknown>) => ({
  [part]: { ...(commonParts()[part] as object), ...fields },
});

test('the account holds the fields of the contract', async () => {
  const account = await analyze();
  assert.equal(account.schema, 'agentdump.analysis/1');
  assert.equal(account.verdict?.kind, 'uncaught-exception');
  assert.equal(account.verdict?.confidence, 'certain');
  assert.deepEqual(account.process?.exit, { code: 1 });
  assert.equal(account.process?.v8Version, '12.4.254.21-node.33');
  assert.equal(account.error?.handled, false);
  assert.equal(account.error?.cause?.message, 'model returned no steps');
  assert.deepEqual(account.error?.properties, { runId: 'run-7', attempt: 3 });
  const [main, native] = account.threads ?? [];
  assert.equal(main?.crashed, true);
  assert.equal(main?.frames[0]?.function, 'planNextStep');
  assert.equal(main?.frames[0]?.source?.length, 5);
  assert.deepEqual(native?.registers, { sp: '0x7ffe0000', pc: '0x401000' });
  assert.deepEqual(account.environment?.variables?.['MODEL_API_KEY'], { withheld: 'name:api-key' });
  assert.equal(account.environment?.connections?.[0]?.remote, '10.0.0.9:443');
  assert.equal(account.memory?.heapLimitBytes, 2_197_815_296);
  assert.equal(account.modules?.native[0]?.base, '0x400000');
  assert.deepEqual(account.agent?.state?.['queue'], { waiting: 4 });
  assert.deepEqual(account.gaps, [{ part: 'agent.json', reason: 'it threw: no cache', lookedFor: 'cache' }]);
  assert.equal(account.signature?.parts[0], 'kind:thrown');
});

test('a part that is missing without a word is a gap', async () => {
  const { gaps, verdict } = await analyze({ 'memory.json': undefined, 'error.json': undefined });
  assert.deepEqual(
    gaps.map((gap) => gap.part).filter((part) => part !== 'agent.json'),
    ['memory.json', 'error.json'],
  );
  assert.equal(verdict?.kind, 'uncaught-exception');
});

test('a bundle with nothing but its name is still an account', async () => {
  const account = await analyzeBundle(memoryBundle({}, { sealed: false }));
  assert.equal(account.verdict?.kind, 'unknown');
  assert.ok(account.gaps.length >= 6);
  assert.match(renderText(account), /^\? Unknown/);
});

test('suspended functions are told, and of a silent agent they are the cause', async () => {
  const stack =
    '    at async fetchOrder (/app/src/orders.js:3:49)\n    at async serve (/app/src/server.js:4:33)';
  const trigger = { kind: 'no-progress', silence: { silentMs: 9000, deadlineMs: 5000, signs: 'any' } };
  const account = await analyze({
    ...changed('trigger.json', trigger),
    'error.json': undefined,
    'suspended.json': { promises: 4, stacks: [stack, 7, '', 'no stack at all'] },
  });
  assert.deepEqual(
    account.suspended?.[0]?.frames.map((frame) => frame.function),
    ['fetchOrder', 'serve'],
  );
  assert.match(
    account.verdict?.title ?? '',
    /^No progress for 9 s: suspended in fetchOrder \(\S+orders\.js:3:49\)/,
  );
  assert.match(renderMarkdown(account), /Waiting[\s\S]*fetchOrder .*orders\.js:3:49/);
  assert.match(renderText(account), /Waiting\n {2}fetchOrder .*orders\.js:3:49\n {4}← serve/);
});

test('locals stand on the frames of their places', async () => {
  const variables = [{ name: 'step', value: 'undefined' }];
  const scopes = [
    { type: 'local', variables },
    { type: 'global', variables },
  ];
  const frame = {
    functionName: 'planNextStep',
    scriptId: '71',
    url: '/srv/agent/src/plan.js',
    line: 4,
    column: 27,
  };
  const { error } = await analyze({ 'locals.json': { frames: [{ ...frame, scopes }] } });
  assert.deepEqual(error?.frames?.[0]?.locals, [{ name: 'step', scope: 'local', value: 'undefined' }]);
  assert.equal(error?.frames?.[1]?.locals, undefined);
});

test('an exit shows the stack of its caller', async () => {
  const { verdict, threads } = await analyze({
    'error.json': undefined,
    ...changed('trigger.json', {
      kind: 'exit',
      exitCode: 3,
      exitStack:
        'Error\n    at process.exit (node:internal/process/per_thread:1:1)\n    at giveUp (/srv/agent/src/cli.js:9:3)',
    }),
  });
  assert.match(verdict?.title ?? '', /^process\.exit\(3\) called by giveUp \(src\/cli\.js:9:3\)$/);
  assert.equal(threads?.[0]?.crashed, true);
});

test('an exit in a package is the call of the package, below the line of the program', async () => {
  const { verdict } = await analyze({
    'error.json': undefined,
    ...changed('trigger.json', {
      kind: 'exit',
      exitCode: 3,
      exitStack:
        'Error\n    at fail (/srv/agent/node_modules/yargs/usage.js:9:3)\n    at main (/srv/agent/src/cli.js:4:1)',
    }),
  });
  assert.equal(verdict?.title, 'process.exit(3) called by yargs at src/cli.js:4:1');
  const facts = verdict?.evidence.map(({ fact }) => fact) ?? [];
  const called =
    'process.exit was called in fail (node_modules/yargs/usage.js:9:3), below main (src/cli.js:4:1).';
  assert.ok(facts.includes(called), facts.join('\n'));
  assert.equal(verdict?.place?.file, '/srv/agent/src/cli.js');
});

test('the exit code that Node documents stands in where the writer knew none', async () => {
  const exitOf = async (fields: object) =>
    (await analyze(changed('trigger.json', { exitCode: undefined, ...fields }))).process?.exit;
  assert.deepEqual(await exitOf({}), { code: 1 });
  assert.equal(await exitOf({ handledByHost: true }), undefined);
  assert.equal(await exitOf({ isMainThread: false }), undefined);
});

test('drift reaches the packages', async () => {
  const { modules } = await analyze({
    'drift.json': {
      lockFile: '/srv/agent/package-lock.json',
      kind: 'npm',
      compared: 2,
      differences: [
        { name: 'p-queue', locked: '7.0.0', installed: '8.0.1', problem: 'another version' },
        { name: 'gone', locked: '1.0.0', problem: 'not installed' },
      ],
    },
  });
  const driftOf = (name: string) => modules?.packages.find((p) => p.name === name)?.drift;
  assert.equal(driftOf('p-queue'), 'package-lock.json pins 7.0.0, installed is 8.0.1');
  assert.equal(driftOf('gone'), 'package-lock.json pins 1.0.0, none is installed');
});

test('a package that is loaded twice is unusual', async () => {
  const paths = ['/srv/agent/node_modules/zod', '/srv/agent/node_modules/x/node_modules/zod'];
  const packages = paths.map((path) => ({ name: 'zod', version: '3.22.4', path, scripts: 1 }));
  const { environment } = await analyze({ 'packages.json': { packages } });
  assert.match(environment?.unusual?.[0]?.fact ?? '', /^zod is loaded twice/);
});

test('a wrong shape is a gap, and the rest is read', async () => {
  const account = await analyze({
    ...changed('process.json', { pid: 'many', argv: { a: 1 }, limits: [] }),
    'handles.json': [],
    ...changed('trigger.json', { kind: 'meteor' }),
  });
  const reasons = account.gaps.map((gap) => `${gap.part}: ${gap.reason}`).join('\n');
  assert.match(reasons, /process\.json: pid is a string, not number/);
  assert.match(reasons, /process\.json: argv is an object, not a list/);
  assert.match(reasons, /handles\.json: the whole is a list, not an object/);
  assert.match(reasons, /trigger\.json: kind is a string, not one of/);
  assert.equal(account.process?.cwd, '/srv/agent');
});

test('deep nesting, long chains and proto keys are cut, not walked', async () => {
  let deep: unknown = 'end';
  for (let i = 0; i < 100_000; i++) deep = [deep];
  let chain: unknown = { type: 'object', isError: true, message: 'end' };
  for (let i = 0; i < 20_000; i++) chain = { type: 'object', isError: true, message: `${i}`, cause: chain };
  const state = JSON.parse('{"__proto__":{"polluted":true},"deep":1}') as Record<string, unknown>;
  state['deep'] = deep;
  const account = await analyze({ 'agent.json': { state, providers: {} }, 'error.json': { error: chain } });
  assert.ok(account.gaps.some((gap) => /nested deeper/.test(gap.reason)));
  for (const render of [renderText, renderMarkdown, renderJson])
    assert.ok(render(account).length < 1_000_000);
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

test('an aggregate of thousands is cut, and says how many are missing', async () => {
  const errors = Array.from({ length: 1000 }, (_, i) => ({
    type: 'object',
    isError: true,
    message: `m${i}`,
  }));
  const { error, gaps } = await analyze({
    'error.json': { error: { type: 'object', isError: true, message: 'all failed', errors } },
  });
  assert.equal(error?.errors?.length, 199);
  assert.ok(gaps.some((gap) => gap.reason === '801 errors beyond 200 are left out'));
});

test('hostile texts are shown, never obeyed', async () => {
  const evil = '\x1b[2J\u202e::set-output name=x::y ##[group]z <script>alert(1)</script> @team';
  const account = await analyze({
    'error.json': {
      error: {
        type: 'object',
        isError: true,
        name: evil,
        message: `${evil}\n::error::owned`,
        stack: `x\n    at ${evil} (/srv/${evil}.js:1:1)`,
        properties: { [evil]: evil },
      },
    },
    'agent.json': { state: { [evil]: evil, messages: [{ role: evil, content: evil }] }, providers: {} },
    ...changed('process.json', { argv: [evil], cwd: evil, container: evil }),
    ...changed('environment.json', { os: { type: evil, release: evil } }),
    'suspended.json': { promises: 1, stacks: [`    at async ${evil} (/srv/${evil}.js:1:1)`] },
    'packages.json': {
      packages: [
        { name: evil, path: evil },
        { name: evil, path: `${evil}2` },
      ],
    },
  });
  for (const [name, text] of Object.entries({
    text: renderText(account),
    markdown: renderMarkdown(account),
    json: renderJson(account),
  })) {
    assert.doesNotMatch(text, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/, name);
    assert.doesNotMatch(text, /^\s*::/m, name);
    assert.doesNotMatch(text, /##\[/, name);
  }
  assert.doesNotMatch(
    renderMarkdown(account).replace(/^(`{3,})text\n[\s\S]*?^\1$/gm, ''),
    /<script>|[^`]@team/,
  );
  assert.equal(JSON.parse(renderJson(account)).error.name, evil);
});

test('any JSON in any part gives an account', async () => {
  const stacks = ['    at async askModel (/app/dist/agent.js:8:2)\n    at async /app/dist/agent.js:12:1'];
  const all: Record<string, unknown> = { ...commonParts(), 'suspended.json': { stacks, promises: 3 } };
  const names = Object.keys(all).filter((name) => name.endsWith('.json'));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.jsonValue(),
      fc.jsonValue(),
      async (part, whole, field) => {
        const original = all[part] as Record<string, unknown>;
        const [key = ''] = Object.keys(original);
        for (const value of [whole, { ...original, [key]: field }]) {
          const account = await analyze({ [part]: value });
          assert.ok(account.verdict && account.schema);
          assert.ok(renderText(account) && renderMarkdown(account) && JSON.parse(renderJson(account)));
        }
      },
    ),
    { numRuns: fuzzRuns(150) },
  );
});
