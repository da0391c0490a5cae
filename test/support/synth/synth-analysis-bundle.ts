/**
 * Bundles for the tests of analysis and reports: parts as plain objects, in memory or written to a folder with a handmade
 * manifest. Restates the layout instead of importing it, so that a test can write what a writer never would.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AnalyzableBundle } from '../../../src/analysis/bundle-parts.ts';

export type PartContents = Record<string, unknown>;

/** The parts of a program of three files that threw in its third hour. */
export function commonParts(): PartContents {
  return {
    'trigger.json': {
      id: '00112233445566aa',
      kind: 'uncaught-exception',
      verdictKind: 'uncaught-exception',
      at: '2026-11-21T03:04:05.678Z',
      program: 'agent',
      pid: 4242,
      threadId: 0,
      isMainThread: true,
      nodeVersion: 'v22.23.3',
      exitCode: 1,
      handledByHost: false,
      origin: 'uncaughtException',
    },
    'error.json': {
      error: {
        type: 'object',
        isError: true,
        name: 'TypeError',
        message: "Cannot read properties of undefined (reading 'title')",
        stack: [
          "TypeError: Cannot read properties of undefined (reading 'title')",
          '    at planNextStep (/srv/agent/src/plan.js:4:27)',
          '    at async runAgent (/srv/agent/src/agent.js:18:16)',
          '    at async next (/srv/agent/node_modules/p-queue/dist/index.js:120:9)',
          '    at async node:internal/process/task_queues:95:5',
        ].join('\n'),
        properties: { runId: 'run-7', attempt: 3 },
        cause: {
          type: 'object',
          isError: true,
          name: 'Error',
          message: 'model returned no steps',
          stack: 'Error: model returned no steps\n    at parseReply (/srv/agent/src/model.js:31:11)',
        },
      },
    },
    'process.json': {
      pid: 4242,
      parentPid: 1,
      title: 'node',
      argv: ['/usr/bin/node', '/srv/agent/src/agent.js'],
      execArgv: ['--require', 'agentdump/register'],
      execPath: '/usr/bin/node',
      cwd: '/srv/agent',
      versions: { node: '22.23.3', v8: '12.4.254.21-node.33' },
      platform: 'linux',
      arch: 'x64',
      startedAt: '2026-11-21T01:02:03.000Z',
      uptimeMs: 7_322_678,
      threadId: 0,
      resourceUsage: { maxRSS: 131072 },
      limits: { 'Max open files': { soft: '1024', hard: '4096' } },
      cgroup: { 'memory.current': 187_000_000, 'memory.max': 536_870_912 },
      container: 'docker',
    },
    'memory.json': {
      usage: { rss: 187_000_000, heapUsed: 61_000_000, heapTotal: 80_000_000, external: 3_000_000 },
      heap: { used_heap_size: 61_000_000, heap_size_limit: 2_197_815_296, number_of_detached_contexts: 0 },
      spaces: [],
      system: { totalBytes: 16_000_000_000, availableBytes: 9_000_000_000 },
      heapTier: { wanted: 'off', taken: 'statistics', reason: 'AGENTDUMP_HEAP is off' },
    },
    'handles.json': {
      resources: { TCPSocketWrap: 3, Timeout: 2 },
      descriptors: [
        { fd: 0, kind: 'device', target: '/dev/null' },
        { fd: 18, kind: 'socket', target: 'socket:[991]' },
        { fd: 19, kind: 'socket', target: 'socket:[992]' },
      ],
      descriptorCount: 3,
      sockets: [
        { fd: 18, protocol: 'tcp', local: '10.0.0.2:49152', remote: '10.0.0.9:443', state: 'ESTABLISHED' },
      ],
      timers: [{ kind: 'Timeout', count: 2 }],
      children: [{ pid: 4300, command: 'mcp-server --stdio' }],
    },
    'environment.json': {
      variables: { PATH: { value: '/usr/bin' }, MODEL_API_KEY: { withheld: 'name:api-key' } },
      os: {
        type: 'Linux',
        release: '6.1.0',
        version: '#1 SMP',
        hostname: 'agent-1',
        uptimeSeconds: 9000,
        loadAverage: [0.4, 0.3, 0.2],
        cpus: 2,
      },
    },
    'packages.json': {
      packages: [
        { name: 'agent', version: '1.0.0', path: '/srv/agent', isProgram: true, scripts: 3 },
        {
          name: 'p-queue',
          version: '8.0.1',
          path: '/srv/agent/node_modules/p-queue',
          requested: '^8.0.0',
          scripts: 4,
        },
      ],
    },
    'scripts.json': {
      scripts: [
        {
          scriptId: '71',
          url: '/srv/agent/src/plan.js',
          hash: 'ab',
          isModule: false,
          sourcePart: 'sources/0.js',
        },
      ],
    },
    'sources/0.js': [
      "'use strict';",
      'exports.planNextStep = function planNextStep(plan) {',
      '  const [step] = plan.steps;',
      "  return 'next:  ' + step.title;",
      '};',
      '',
    ].join('\n'),
    'agent.json': {
      state: {
        goal: 'write the weekly summary',
        messages: [
          { role: 'user', content: 'Summarise the week.' },
          { role: 'assistant', content: [{ type: 'text', text: 'I will read the issues first.' }] },
        ],
      },
      providers: {
        queue: { value: { waiting: 4 }, tookMs: 1 },
        cache: { gap: 'it threw: no cache', tookMs: 2 },
      },
    },
    'native-modules.json': { modules: [{ path: '/usr/bin/node', base: '0x400000', end: '0x5000000' }] },
    'threads.json': {
      threads: [{ tid: 4242, name: 'node', state: 'R', sp: '0x7ffe0000', pc: '0x401000' }],
    },
  };
}

/** `changes` replaces parts by name; undefined omits one. */
export function synthParts(changes: PartContents = {}): PartContents {
  return Object.fromEntries(
    Object.entries({ ...commonParts(), ...changes }).filter(([, part]) => part !== undefined),
  );
}

const bytesOf = (part: unknown) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part));

/** JSON.stringify overflows the stack on the deep nesting that some tests use. */
function sizeOf(part: unknown): number {
  try {
    return bytesOf(part).length;
  } catch {
    return 0;
  }
}

/** The bundle as analysis sees it, without a disk behind it. */
export function memoryBundle(parts: PartContents, more: Partial<AnalyzableBundle> = {}): AnalyzableBundle {
  return {
    id: '00112233445566aa',
    path: '/dumps/x.agentdump',
    sealed: true,
    head: { createdAt: '2026-11-21T03:04:05.700Z' },
    parts: Object.entries(parts).map(([name, part]) => ({
      name,
      bytes: sizeOf(part),
      complete: true,
    })),
    gaps: [],
    readPart: (name) => (name in parts ? bytesOf(parts[name]) : undefined),
    readJson: (name) => (name in parts ? parts[name] : undefined),
    ...more,
  };
}

/** Writes the parts and a manifest of them to `folder`; `manifest` overrides its fields. */
export function writeBundle(
  folder: string,
  parts: PartContents,
  manifest: Record<string, unknown> = {},
): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entries = Object.entries(parts).map(([name, part]) => {
    const bytes = bytesOf(part);
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes, { mode: 0o600 });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { name, bytes: bytes.length, sha256, complete: true };
  });
  const whole = {
    schema: 'agentdump.bundle',
    version: 1,
    id: '00112233445566aa',
    createdAt: '2026-11-21T03:04:05.700Z',
    sealedAt: '2026-11-21T03:04:05.780Z',
    writer: '0.1.0',
    program: 'agent',
    verdictKind: 'uncaught-exception',
    parts: entries,
    gaps: [],
    redactions: [{ rule: 'name:api-key', part: 'environment.json', count: 1 }],
    tookMs: 80,
    ...manifest,
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(whole), { mode: 0o600 });
  return folder;
}
