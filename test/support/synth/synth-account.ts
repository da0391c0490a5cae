/** An account with everything in it, of any size. */
import type { Account } from '../../../src/model/account.ts';
import type { AgentRun } from '../../../src/model/agent-state.ts';
import type { Frame } from '../../../src/model/thread.ts';

export interface SynthAccountSize {
  /** The number of pairs of a model call and a tool call. */
  turns?: number;
  /** The length of each message and result in characters. */
  letters?: number;
  frames?: number;
  samples?: number;
}

const endMs = Date.parse('2026-11-21T03:04:05.000Z');
const before = (ms: number): string => new Date(endMs - ms).toISOString();

export function synthAccount({
  turns = 4,
  letters = 80,
  frames = 12,
  samples = 60,
}: SynthAccountSize = {}): Account {
  return {
    schema: 'agentdump.analysis/1',
    bundle: {
      id: '00112233aabbccdd',
      path: '/srv/agent/.agentdump/one.agentdump',
      capturedAt: before(0),
      sealed: true,
      parts: [
        { name: 'trigger.json', bytes: 220, sha256: 'ab'.repeat(32), complete: true },
        { name: 'heap.heapsnapshot.gz', bytes: 2_400_000, complete: false },
      ],
      redactions: [{ rule: 'openai-key', part: 'environment.json', count: 2 }],
    },
    verdict: {
      kind: 'uncaught-exception',
      title: "TypeError: Cannot read properties of undefined (reading 'total')",
      summary: 'Uncaught exception in the main thread. The agent was waiting for tool search_hotels.',
      confidence: 'certain',
      evidence: [{ fact: 'Node raised uncaughtException.', part: 'trigger.json' }],
      refutedBy: 'An exit code other than 1.',
      nextSteps: ['Open src/agent.ts:36:55.', 'Find out why the value was missing there.'],
      alternatives: [{ kind: 'resource-exhaustion', title: 'Out of descriptors', confidence: 'possible' }],
    },
    signature: { id: '97a8115ab0b72f74', version: 1, parts: ['uncaught-exception', 'TypeError', 'cheapest'] },
    process: {
      pid: 4242,
      parentPid: 1,
      nodeVersion: 'v24.1.0',
      arch: 'x64',
      cwd: '/srv/agent',
      argv: ['/usr/bin/node', '/srv/agent/src/agent.ts'],
      execArgv: ['--enable-source-maps'],
      startedAt: before(90_000),
      uptimeMs: 90_000,
      exit: { code: 1 },
      limits: { 'open files': { soft: '1024', hard: '4096' } },
      cgroup: { memoryMax: 536_870_912 },
      container: 'docker',
    },
    error: {
      name: 'TypeError',
      message: "Cannot read properties of undefined (reading 'total')",
      code: 'E_TOTAL',
      properties: { attempt: 3, request: { id: 'r-1', headers: { accept: '*/*' } } },
      frames: Array.from({ length: frames }, (_, n) => synthFrame(n)),
      cause: { name: 'RangeError', message: 'the root of it', frames: [synthFrame(1)] },
    },
    threads: [
      { id: 0, kind: 'main', crashed: true, frames: [synthFrame(0)] },
      {
        id: 3,
        kind: 'worker',
        crashed: false,
        state: 'waiting',
        registers: { rip: '0x7f00' },
        frames: [synthFrame(2)],
      },
      {
        id: 31,
        kind: 'native',
        name: "V8's platform worker",
        crashed: false,
        frames: [{ function: 'pthread_cond_wait', inApp: false, trust: 'cfi', module: 'libc.so.6' }],
      },
    ],
    modules: {
      packages: [
        {
          name: 'left-pad',
          version: '1.3.0',
          path: '/srv/agent/node_modules/left-pad',
          drift: '1.2.0 is locked',
        },
        { name: 'openai', version: '5.0.0', path: '/srv/agent/node_modules/openai', requested: '^5' },
      ],
      native: [{ path: '/usr/lib/libc.so.6', base: '0x7f00', end: '0x7fff', buildId: 'abcdef' }],
    },
    agent: {
      runs: [
        synthRun(turns, letters),
        { ...synthRun(1, letters), id: 'r2', name: 'a helper', parentId: 'r1' },
      ],
      state: { plan: ['search', 'book'], budget: { tokens: 1000 } },
      endedAt: before(0),
      events: { read: 4 * turns, evicted: 2, unreadable: 0 },
      openRequests: [{ method: 'GET', host: 'hotels.example', ageMs: 300 }],
    },
    memory: {
      rssBytes: 480_000_000,
      heapUsedBytes: 410_000_000,
      heapLimitBytes: 450_000_000,
      history: Array.from({ length: samples }, (_, n) => ({
        at: before((samples - n) * 1000),
        rssBytes: 100_000_000 + (n / samples) * 380_000_000,
        heapUsedBytes: 60_000_000 + (n / samples) * 350_000_000 * (n % 3 ? 1 : 0.9),
      })),
      classes: [{ name: 'Session', count: 60, selfSizeBytes: 4800, retainedSizeBytes: 300_000_000 }],
      suspects: [
        {
          rule: 'large-object',
          title: 'One Map holds 73 % of the heap',
          sentence: 'Map @1234 keeps 300 MB alive.',
          retainedSizeBytes: 300_000_000,
          confidence: 'likely',
          evidence: [{ fact: 'it is at global.sessions', part: 'heap.heapsnapshot.gz' }],
        },
      ],
      retained: [
        { name: '(heap)', parent: -1, bytes: 0, count: 1 },
        { name: 'Map', parent: 0, bytes: 1000, count: 1 },
        { name: 'Session', parent: 1, bytes: 200_000_000, count: 60 },
        { name: '(string)', parent: 2, bytes: 100_000_000, count: 600 },
        { name: '(compiled code)', parent: 0, bytes: 60_000_000, count: 9000 },
        { name: 'system / Context', parent: 0, bytes: 20_000_000, count: 900 },
      ],
    },
    environment: {
      os: { type: 'Linux', release: '6.1', cpus: 2 },
      variables: { HOME: { value: '/root' }, OPENAI_API_KEY: { withheld: 'name of a secret' } },
      handles: [{ kind: 'TCPSocketWrap', count: 3, detail: 'to hotels.example' }],
      connections: [
        { protocol: 'tcp', local: '10.0.0.2:4000', remote: '10.0.0.9:443', state: 'ESTABLISHED' },
      ],
      unusual: [
        { level: 'alarm', fact: '91 % of the heap limit is used', part: 'process.json' },
        { level: 'notice', fact: '14 listeners on one emitter', part: 'handles.json' },
      ],
    },
    gaps: [
      { part: 'locals.json', reason: 'not armed', lookedFor: 'variables' },
      { part: 'report.json', reason: 'torn' },
    ],
  };
}

function synthFrame(n: number): Frame {
  if (n % 12 >= 4 && n % 12 < 8)
    return {
      function: `route${n}`,
      file: `/srv/agent/node_modules/express/lib/router.js`,
      line: 10 + n,
      column: 3,
      inApp: false,
      trust: 'stack-text',
    };
  return {
    function: `cheapest${n}`,
    file: '/srv/agent/src/agent.ts',
    line: 36,
    column: 28,
    generated: { file: '/srv/agent/dist/agent.js', line: 20, column: 9 },
    inApp: true,
    trust: 'stack-text',
    source: [
      { line: 35, text: 'function cheapest(hotels: Hotel[]): Hotel { // the first' },
      { line: 36, text: '  return hotels.reduce((best, hotel) => hotel.prices.total < 300 ? hotel : best);' },
      { line: 37, text: '}' },
    ],
    locals: [{ name: 'hotels', scope: 'argument', value: '[{ name: "Novo" }]' }],
  };
}

/** Each turn is 100 ms of the model and 100 ms of the tool; the last tool call is still open. */
function synthRun(turns: number, letters: number): AgentRun {
  const text = (n: number): string =>
    `turn ${n} ${'lorem ipsum '.repeat(Math.ceil(letters / 12))}`.slice(0, letters);
  const all = Array.from({ length: turns }, (_, n) => n);
  const startOf = (n: number): number => (turns - n) * 200;
  return {
    id: 'r1',
    name: 'plan a trip',
    status: 'running',
    startedAt: before(turns * 200 + 50),
    steps: [
      {
        id: 's1',
        name: 'search',
        status: 'running',
        startedAt: before(turns * 200 + 20),
        ageMs: turns * 200 + 20,
      },
      { id: 's2', name: 'prepare', status: 'failed', startedAt: before(60), durationMs: 20, parentId: 's1' },
    ],
    modelCalls: all.map((n) => ({
      id: `c${n}`,
      provider: 'openai',
      model: 'gpt-4.1',
      status: 'finished',
      stepId: 's1',
      startedAt: before(startOf(n)),
      durationMs: 100,
      firstByteMs: 30,
      inputTokens: 400,
      outputTokens: 20,
      request: { messages: [{ role: 'user', content: text(n) }] },
      response: [{ role: 'assistant', content: [{ type: 'text', content: text(n) }] }],
    })),
    toolCalls: all.map((n) => ({
      id: `t${n}`,
      name: 'search_hotels',
      stepId: 's1',
      requestedBy: `c${n}`,
      arguments: { city: 'Lisbon', n },
      startedAt: before(startOf(n) - 100),
      ...(n === turns - 1
        ? { status: 'running', ageMs: 100 }
        : { status: 'finished', durationMs: 90, result: text(n) }),
    })),
    messages: all.flatMap((n) => [
      { role: n ? 'tool' : 'user', content: text(n) },
      {
        role: 'assistant',
        content: [
          { type: 'text', content: `I ask for hotels, turn ${n}.` },
          { type: 'tool_call', id: `t${n}`, name: 'search_hotels', arguments: { city: 'Lisbon' } },
        ],
      },
    ]),
    pending: ['tool search_hotels, running for 100 ms'],
    usage: { inputTokens: 400 * turns, outputTokens: 20 * turns },
  };
}
