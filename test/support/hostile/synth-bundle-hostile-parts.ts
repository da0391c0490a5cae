/** Hostile parts: sealed and hashed correctly, with contents that no producer of ours writes. */
import { synthTrigger } from '../synth/synth-bundle.ts';
import {
  escapes,
  type HostileInput,
  instructions,
  markup,
  nested,
  outside,
  withParts,
  workflowCommands,
} from './synth-bundle-hostile.ts';

const thrown = {
  type: 'object',
  isError: true,
  name: 'Error',
  message: 'm',
  stack: 'Error: m\n    at f (/a.js:1:1)',
};
const error = (fault: string, part: unknown, says?: RegExp) =>
  withParts(`error/${fault}`, { 'error.json': part }, says);
const agent = (fault: string, part: unknown, says?: RegExp) =>
  withParts(`agent/${fault}`, { 'agent.json': part }, says);
const report = (fault: string, part: unknown, says?: RegExp) =>
  withParts(`report/${fault}`, { 'report.json': part }, says);

export function partFaults(): HostileInput[] {
  return [...triggerFaults(), ...errorFaults(), ...agentFaults(), ...reportFaults(), ...otherFaults()];
}

function triggerFaults(): HostileInput[] {
  const trigger = (fault: string, part: unknown) => withParts(`trigger/${fault}`, { 'trigger.json': part });
  return [
    trigger('null', 'null'),
    trigger('empty-object', {}),
    trigger('every-field-a-list', Object.fromEntries(Object.keys(synthTrigger).map((key) => [key, [key]]))),
    trigger('kind-nobody-knows', { ...synthTrigger, kind: 'constructor', verdictKind: '__proto__' }),
    trigger('time-out-of-range', { ...synthTrigger, at: '+999999-99-99T99:99:99Z' }),
    trigger('numbers-out-of-range', '{"id":"x","kind":"exit","exitCode":1e999,"pid":-1e308,"threadId":0.5}'),
    trigger('program-of-100000-letters', { ...synthTrigger, program: 'p'.repeat(100_000) }),
    trigger('escapes-in-every-text', {
      ...synthTrigger,
      program: escapes,
      reason: escapes,
      origin: escapes,
      exitStack: escapes,
    }),
  ];
}

function chain(depth: number): Record<string, unknown> {
  let cause: Record<string, unknown> = { ...thrown };
  for (let i = 0; i < depth; i++) cause = { ...thrown, message: `level ${i}`, cause };
  return cause;
}

function errorFaults(): HostileInput[] {
  return [
    error('torn', `{"error":{"type":"object","message":"torn he`, /not whole JSON/),
    error('of-text', '"Error: x"', /not an object/),
    error('without-error', {}),
    error('fields-of-wrong-types', {
      error: {
        type: 1,
        isError: 'yes',
        name: {},
        message: [],
        stack: 7,
        code: {},
        cause: 1,
        errors: {},
        gaps: 3,
      },
      frames: 'none',
    }),
    error('frames-of-wrong-types', {
      error: thrown,
      frames: [
        null,
        1,
        {},
        { url: 1, line: 'x', column: -1 },
        { functionName: {}, scriptId: [], url: outside, line: 1e18, column: 0.5 },
      ],
    }),
    error('nested-30000-deep', `{"error":${nested(30_000, '{"cause":', '}')}}`, /200 levels/),
    error('cause-chain-of-150', { error: chain(150) }),
    error('aggregate-of-3000', { error: { ...thrown, errors: Array(3000).fill(thrown) } }),
    error('message-of-300000-letters', { error: { ...thrown, message: 'm'.repeat(300_000) } }),
    error(
      'proto-keys',
      '{"error":{"type":"object","isError":true,"__proto__":{"name":"Polluted"},"properties":{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}}}',
      /__proto__/,
    ),
    error('terminal-escapes', {
      error: {
        ...thrown,
        name: escapes,
        message: escapes,
        stack: `${escapes}\n    at ${escapes} (${escapes}:1:1)`,
        properties: { [escapes]: escapes },
      },
    }),
    error('workflow-commands', { error: { ...thrown, message: workflowCommands, stack: workflowCommands } }),
    error('markup', {
      error: {
        ...thrown,
        name: markup,
        message: `${markup}\n\`\`\`\n# heading`,
        stack: `${markup}\n    at ${markup} (${markup}:1:1)`,
      },
    }),
    error('instructions', { error: { ...thrown, message: instructions } }),
    error('hundred-thousand-values', `{"error":{"properties":{"a":[${'0,'.repeat(100_000)}0]}}}`),
    error(
      'invalid-utf-8',
      Buffer.concat([
        Buffer.from('{"error":{"type":"object","message":"'),
        Buffer.from([0xff, 0xc0, 0xed, 0xa0, 0x80]),
        Buffer.from('"}}'),
      ]),
    ),
    error(
      'lone-surrogates',
      '{"error":{"type":"object","isError":true,"message":"\\ud800 \\udfff \\u0000","stack":"\\ud83d\\n    at \\udc00 (\\ud800:1:1)"}}',
    ),
  ];
}

function agentFaults(): HostileInput[] {
  const run = { id: 'r', name: 'run', status: 'running', startedAt: 'x', steps: [] };
  return [
    agent('of-null', 'null', /not an object/),
    agent('state-of-text', { state: 'x', providers: 'y' }),
    agent('providers-of-wrong-types', {
      state: {},
      providers: { a: null, b: 1, c: { gap: {}, tookMs: 'x' }, d: [] },
    }),
    agent('runs-of-wrong-types', {
      state: { runs: [1, null, 'x', { ...run, steps: 'none' }, { ...run, steps: [1, {}] }] },
      providers: {},
      runs: [{ id: {} }],
    }),
    agent('run-is-its-own-parent', {
      state: { runs: [{ ...run, parentId: 'r' }] },
      providers: {},
      runs: [{ ...run, parentId: 'r' }],
    }),
    agent('nested-50000-deep', `{"state":{"a":${nested(50_000)}},"providers":{}}`, /200 levels/),
    agent('nested-190-deep', `{"state":{"a":${nested(190)}},"providers":{}}`),
    agent(
      'proto-keys',
      '{"state":{"__proto__":{"toString":1},"toString":2,"hasOwnProperty":3},"providers":{"__proto__":{"value":1,"tookMs":1}}}',
      /__proto__/,
    ),
    agent('terminal-escapes', {
      state: { [escapes]: escapes },
      providers: { [escapes]: { value: escapes, tookMs: 1 } },
    }),
    agent('instructions', {
      state: { task: instructions },
      providers: { messages: { value: [{ role: 'system', content: instructions }], tookMs: 1 } },
    }),
    agent('text-of-300000-letters', { state: { text: 'x '.repeat(150_000) }, providers: {} }),
    agent('ten-thousand-keys', {
      state: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key ${i}`, i])),
      providers: {},
    }),
  ];
}

function reportFaults(): HostileInput[] {
  return [
    report('torn', '{"header":{"reportVersion":3,', /not whole JSON|report/),
    report('of-list', '[]'),
    report('sections-of-wrong-types', {
      header: 1,
      javascriptStack: 'x',
      nativeStack: {},
      libuv: 'x',
      workers: 3,
      resourceUsage: [],
    }),
    report(
      'numbers-out-of-range',
      '{"header":{"cpus":[{"speed":1e999}]},"javascriptHeap":{"totalMemory":-1e308,"heapSpaces":{"x":null}}}',
    ),
    report('nested-50000-deep', `{"workers":${nested(50_000)}}`),
    report('libuv-of-20000', { header: {}, libuv: Array(20_000).fill({ type: 'tcp' }) }),
  ];
}

function otherFaults(): HostileInput[] {
  const wrong = (name: string, fault: string, part: unknown, says?: RegExp) =>
    withParts(`${name}/${fault}`, { [`${name}.json`]: part }, says);
  const path = { name: outside, path: outside, version: escapes, requested: {} };
  return [
    wrong('process', 'fields-of-wrong-types', {
      pid: 'x',
      argv: 'node',
      versions: [],
      limits: { a: 1, b: { soft: {} } },
      cgroup: [{}],
      workers: 5,
    }),
    wrong('process', 'escapes-in-argv', {
      pid: 1,
      argv: [escapes, workflowCommands],
      execArgv: [markup],
      cwd: escapes,
      title: escapes,
    }),
    wrong('memory', 'fields-of-wrong-types', {
      usage: 'x',
      heap: [],
      spaces: { a: 1 },
      system: null,
      heapTier: 'none',
    }),
    wrong(
      'memory',
      'sizes-out-of-range',
      '{"usage":{"rss":-1,"heapUsed":1e999,"heapTotal":"x"},"heap":{"heap_size_limit":0},"spaces":[null,{"space_used_size":-5}],"system":{"totalBytes":0,"availableBytes":-1}}',
    ),
    wrong('handles', 'fields-of-wrong-types', {
      resources: [],
      descriptors: {},
      descriptorCount: 'many',
      sockets: [1, {}],
      timers: 'x',
      children: [null],
    }),
    wrong(
      'handles',
      'counts-out-of-range',
      '{"resources":{"Timeout":-1,"FSReqCallback":1e999},"descriptors":[{"fd":-1,"kind":{},"target":[]}],"descriptorCount":1e300,"sockets":[],"timers":[],"children":[]}',
    ),
    wrong('environment', 'fields-of-wrong-types', {
      variables: { A: 1, B: { value: {} }, C: { withheld: [] }, D: null },
      os: { loadAverage: 'x', cpus: -1 },
    }),
    wrong(
      'environment',
      'proto-variable',
      '{"variables":{"__proto__":{"value":"x"},"constructor":{"value":"y"}},"os":{}}',
      /__proto__/,
    ),
    wrong('packages', 'fields-of-wrong-types', { packages: [null, 1, {}, { name: {}, scripts: 'x' }] }),
    wrong('packages', 'names-of-paths', {
      packages: [path, { ...path, name: '__proto__' }, { ...path, name: markup }],
    }),
    wrong('packages', 'three-thousand-of-one-name', {
      packages: Array.from({ length: 3000 }, (_, i) => ({
        name: 'x',
        version: `${i}`,
        path: `/x/${i}`,
        scripts: 1,
      })),
    }),
    wrong('threads', 'fields-of-wrong-types', {
      threads: [null, { tid: 'x', name: {}, sp: 'not hex', pc: '0xzz' }],
    }),
    wrong('native-modules', 'addresses-of-text', {
      modules: [
        { path: 1 },
        { path: outside, base: 'x', end: '-1' },
        { path: escapes, base: '0xffffffffffffffffffff', end: '0x0' },
      ],
    }),
    wrong('drift', 'fields-of-wrong-types', {
      lockFile: 1,
      kind: {},
      missing: 'x',
      differences: [null, { name: 1 }],
      compared: 'x',
    }),
    wrong('locals', 'fields-of-wrong-types', {
      frames: [null, { scopes: 'x' }, { scopes: [{ variables: [null, { name: 1, value: {} }] }] }],
    }),
  ];
}
