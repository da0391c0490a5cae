/**
 * Hostile inputs of the formats that were added later: a test's part, the mini core, a replay's recording, a CI run's
 * summary.
 */
import { gzipSync } from 'node:zlib';
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

/** A function, because the two files import each other. */
const steeringText = (): string =>
  `${escapes}\u009b2J\u001b]8;;http://evil.example\u0007link${workflowCommands}##vso[task.x]y`;

const tests = (fault: string, part: unknown, says?: RegExp) =>
  withParts(`tests/${fault}`, { 'test.json': part }, says);
const core = (fault: string, bytes: Buffer) => withParts(`core/${fault}`, { 'mini-core.gz': bytes });

function file(path: string, name: string, content: string, input: Partial<HostileInput>): HostileInput {
  return { path, files: new Map([[name, Buffer.from(content)]]), exit: 3, ...input };
}

export function newerFaults(): HostileInput[] {
  return [...testFaults(), ...coreFaults(), ...recordingFaults(), ...summaryFaults()];
}

function testFaults(): HostileInput[] {
  const steering = steeringText();
  const running = { file: 'a.test.ts', name: ['suite', 'case'], startedAt: '2026-01-01T00:00:00.000Z' };
  const whole = { runner: 'vitest', running: [running], finished: 1, failed: 0 };
  return [
    tests('null', 'null'),
    tests('running-is-a-number', { ...whole, running: 7 }),
    tests('names-are-objects', { ...whole, running: [{ ...running, name: [{ __proto__: null }, 7, null] }] }),
    tests('name-is-a-text', { ...whole, running: [{ ...running, name: 'case' }] }),
    tests('nested-50000-deep', nested(50_000)),
    tests('proto-keys', '{"__proto__":{"runner":"x"},"constructor":{"prototype":1},"running":[]}'),
    tests('terminal-escapes-and-commands', {
      ...whole,
      runner: steering,
      running: [{ ...running, name: [steering, markup], file: steering }],
      failure: {
        ...running,
        name: [steering],
        error: { name: steering, message: steering, stack: steering },
      },
      stop: { why: steering, afterMs: 1, signal: steering, at: steering },
    }),
    tests('a-file-outside', {
      ...whole,
      failure: {
        ...running,
        file: outside,
        error: { message: instructions, stack: `at f (${outside}:1:1)` },
      },
    }),
    tests('failure-without-an-error', { ...whole, failure: { ...running } }),
    tests('100000-tests', { ...whole, running: Array.from({ length: 100_000 }, () => running) }),
  ];
}

function coreFaults(): HostileInput[] {
  const head = Buffer.alloc(64);
  Buffer.from('\x7fELF\x02\x01\x01', 'latin1').copy(head);
  head.writeUInt16LE(4, 16);
  head.writeUInt16LE(62, 18);
  head.writeBigUInt64LE(64n, 32);
  head.writeUInt16LE(56, 54);
  const withCount = (count: number): Buffer => {
    const bytes = Buffer.from(head);
    bytes.writeUInt16LE(count, 56);
    return bytes;
  };
  const segment = Buffer.alloc(56);
  segment.writeUInt32LE(4, 0);
  segment.writeBigUInt64LE(0xffff_ffff_ffff_fff0n, 8);
  segment.writeBigUInt64LE(0xffff_ffff_ffffn, 32);
  return [
    core('empty', Buffer.alloc(0)),
    core('not-gzip', Buffer.from('\x7fELF but not packed')),
    core('torn-gzip', gzipSync(Buffer.alloc(4096)).subarray(0, 20)),
    core('not-elf', gzipSync('a text')),
    core('a-bomb-of-64-mb', gzipSync(Buffer.alloc(64 << 20))),
    core('head-alone', gzipSync(head)),
    core('65535-segments-that-are-not-there', gzipSync(withCount(65_535))),
    core('a-note-of-256-tb', gzipSync(Buffer.concat([withCount(1), segment]))),
  ];
}

export const recordingHead = {
  schema: 'agentdump.recording/1',
  bundle: 'b',
  verdictKind: 'uncaught-exception',
  title: 't',
  signature: { id: 'a1b2c3d4', version: 1, parts: [] },
  argv: ['node', 'agent.js'],
  nodeVersion: 'v22.0.0',
  startedAtMs: 0,
  environment: {},
  withheld: [],
  gaps: [],
  hosts: [],
  messages: {},
  calls: [],
  http: [],
  tools: {},
};

/** Each is replayed with a program that prints a line and exits normally: the recorded death does not happen. */
function recordingFaults(): HostileInput[] {
  const steering = steeringText();
  const program = ['--', 'node', '-e', 'console.error(Object.keys(process.env).sort().join(" "))'];
  const recording = (fault: string, content: unknown, exit: 1 | 3 = 1, words = program, says?: RegExp) =>
    file(
      `recording/${fault}`,
      'crash.recording.json',
      typeof content === 'string' ? content : JSON.stringify(content),
      { exit, command: ['replay', 'crash.recording.json', ...words], ...(says && { says }) },
    );
  const loaders = ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS', 'BASH_ENV'];
  return [
    recording('empty', '', 3),
    recording('torn', '{"schema":"agentdump.recording/1","cal', 3),
    recording('an-array', '[]', 3),
    recording('a-later-release', { ...recordingHead, schema: 'agentdump.recording/99' }, 3),
    recording('lists-are-texts', { ...recordingHead, calls: 'x' }, 3),
    recording('signature-without-parts', { ...recordingHead, signature: {} }, 3),
    recording('nested-50000-deep', `{"schema":"agentdump.recording/1","calls":${nested(50_000)}}`, 3),
    recording('proto-keys', JSON.stringify(recordingHead).replace('{', '{"__proto__":{"calls":[]},')),
    recording('terminal-escapes-and-commands', {
      ...recordingHead,
      title: steering,
      signature: { id: steering, version: 1, parts: [steering] },
      gaps: [steering],
    }),
    recording(
      'variables-that-load-code',
      {
        ...recordingHead,
        environment: Object.fromEntries([...loaders, 'KEPT_NAME'].map((name) => [name, '/nowhere/evil.so'])),
        withheld: ['NODE_REPL_EXTERNAL_MODULE', 'OPENSSL_CONF'],
      },
      1,
      program,
      /KEPT_NAME/,
    ),
  ];
}

function summaryFaults(): HostileInput[] {
  const steering = steeringText();
  const head = {
    schema: 'agentdump.ci/1',
    command: ['x'],
    outcome: { kind: 'failed' },
    tests: { finished: 0, failed: 0, unfinished: 0, telling: [] },
    bundles: [],
  };
  const summary = (fault: string, content: unknown, exit: 0 | 3) =>
    file(
      `ci-summary/${fault}`,
      'summary.json',
      typeof content === 'string' ? content : JSON.stringify(content),
      {
        exit,
        command: ['ci', 'diff', '--baseline', '.', '--report', '.'],
      },
    );
  const bundle = { name: 'a.zip', bytes: 1, kind: 'abort', title: 't', signature: 's' };
  return [
    summary('empty', '', 3),
    summary('torn', '{"schema":"agentdump.ci/1","bund', 3),
    summary('null', 'null', 3),
    summary('nested-50000-deep', `{"schema":"agentdump.ci/1","bundles":${nested(50_000)}}`, 3),
    summary('bundles-are-numbers', { ...head, bundles: [1, null] }, 3),
    summary('another-schema', { ...head, schema: 'agentdump.ci/99' }, 3),
    summary('titles-are-objects', { ...head, bundles: [{ ...bundle, title: { a: 1 }, signature: [] }] }, 3),
    summary('handles-are-a-text', { ...head, processes: [{ entry: 7, tests: 'x', handles: 'y' }] }, 3),
    summary(
      'proto-keys',
      { ...head, processes: [{ entry: '__proto__', tests: 1, handles: { constructor: 2 } }] },
      0,
    ),
    summary(
      'terminal-escapes-and-commands',
      {
        ...head,
        bundles: [{ ...bundle, title: steering, signature: steering, name: outside }],
        processes: [{ entry: steering, tests: 1, handles: { [steering]: 9 }, heapUsedBytes: 1e300 }],
      },
      0,
    ),
  ];
}
