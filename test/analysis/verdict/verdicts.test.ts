/** Each verdict, with facts that support it, and facts that look alike but don't. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VerdictFacts } from '../../../src/analysis/verdict/facts.ts';
import { causes, reachVerdict } from '../../../src/analysis/verdict/reach-verdict.ts';
import type { AccountBundle, ErrorFacts } from '../../../src/model/account.ts';
import type { AgentLoop, AgentState } from '../../../src/model/agent-state.ts';
import type { Frame } from '../../../src/model/thread.ts';
import { verdictKinds } from '../../../src/model/verdict.ts';

const frame = (fn: string, file: string, line = 1): Frame => ({
  function: fn,
  file,
  line,
  column: 5,
  inApp: !file.includes('node_modules') && !file.startsWith('node:'),
  trust: 'stack-text',
});
const appFrames = [frame('planNextStep', '/srv/app/src/agent.ts', 42), frame('run', 'node:internal/x', 9)];
const loaderFrames = [frame('wrapSafe', 'node:internal/modules/cjs/loader', 1464)];
const inLeftPad = [frame('f', '/srv/app/node_modules/left-pad/i.js')];

interface Shape {
  trigger?: VerdictFacts['trigger'];
  error?: ErrorFacts;
  uptimeMs?: number;
  rest?: Partial<VerdictFacts>;
  limits?: Record<string, { soft: string; hard: string }>;
}
function said(stream: string, text: string): VerdictFacts {
  const { account, ...rest } = facts({ trigger: { kind: 'exit', exitCode: 2 } });
  return { ...rest, account: { ...account, happenings: { logs: [{ stream, text }] } } };
}

function facts({ trigger, error, uptimeMs = 12_000, rest = {}, limits }: Shape): VerdictFacts {
  return {
    account: {
      schema: 'agentdump.analysis/1',
      bundle: { id: '1', path: '/b', capturedAt: '', sealed: true, parts: [] },
      process: { cwd: '/srv/app', uptimeMs, ...(limits && { limits }) },
      ...(error && { error }),
      gaps: [],
    },
    ...(trigger && { trigger }),
    ...rest,
  };
}
const circle = {
  nodes: ['r1', 'r2'],
  title: 'run a and run b wait for each other',
  sentence: 'run a waits for run b, which waits for run a',
};
const loop: AgentLoop = {
  kind: 'exact-repeat',
  runId: 'r1',
  calls: ['search({})'],
  times: 40,
  ongoing: true,
  sentence: 'search({}) came 40 times with the same result',
};
/** An agent that has been silent for 31 s, and is also waiting for a model. */
function standstill(more: Partial<AgentState>): VerdictFacts {
  const { account, ...rest } = facts({
    trigger: {
      kind: 'no-progress',
      silence: { silentMs: 31_000, deadlineMs: 30_000, lastSign: 'step.start' },
    },
  });
  const run = {
    id: 'r1',
    status: 'waiting',
    steps: [],
    modelCalls: [],
    toolCalls: [],
    messages: [],
  } as const;
  const open = [{ kind: 'model-call', text: 'model call to openai', ageMs: 1 }];
  const runs = [{ ...run, open, pending: ['model call to openai'] }] as unknown as AgentState['runs'];
  return { account: { ...account, agent: { runs, ...more } }, ...rest };
}

const uncaught = (error: ErrorFacts, more: Omit<Shape, 'error'> = {}) =>
  facts({
    trigger: { kind: 'uncaught-exception', isMainThread: true, handledByHost: false },
    error,
    ...more,
  });

/** The process ended in its handler of the exception. */
function inHandler(
  end: Omit<NonNullable<AccountBundle['sequel']>, 'at'>,
  trigger: Shape['trigger'] = { kind: 'uncaught-exception', isMainThread: true, handledByHost: true },
): VerdictFacts {
  const { account, ...rest } = facts({ trigger, error: typeError });
  const bundle = { id: '1', path: '/b', capturedAt: '', sealed: true, parts: [] };
  return { ...rest, account: { ...account, bundle: { ...bundle, sequel: { at: '', ...end } } } };
}

const typeError: ErrorFacts = {
  name: 'TypeError',
  message: "Cannot read properties of undefined (reading 'title')",
  frames: appFrames,
};
const missing: ErrorFacts = {
  name: 'Error',
  code: 'MODULE_NOT_FOUND',
  message: "Cannot find module 'left-pad'\nRequire stack:\n- /srv/app/index.js",
  frames: loaderFrames,
};
const wrongAbi: ErrorFacts = {
  name: 'Error',
  code: 'ERR_DLOPEN_FAILED',
  message:
    "The module '/srv/app/node_modules/a/a.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 93. This version of Node.js requires\nNODE_MODULE_VERSION 115.",
};
const badSyntax: ErrorFacts = {
  name: 'SyntaxError',
  message: "Unexpected token ';'",
  stackText: "/srv/app/bad.js:7\nlet a = ;\n        ^\n\nSyntaxError: Unexpected token ';'",
  frames: loaderFrames,
};
const noExport: ErrorFacts = {
  name: 'SyntaxError',
  message: "The requested module 'left-pad' does not provide an export named 'pad'",
  stackText: 'SyntaxError: x\n    at ModuleJob._instantiate (node:internal/modules/esm/module_job:213:21)',
};
const noAttribute: ErrorFacts = {
  name: 'TypeError',
  code: 'ERR_IMPORT_ATTRIBUTE_MISSING',
  message: 'Module "file:///srv/app/settings.json" needs an import attribute of "type: json"',
  frames: loaderFrames,
};
const noExportOfOwn: ErrorFacts = {
  name: 'SyntaxError',
  message: "The requested module './format.mjs' does not provide an export named 'formatTime'",
  stackText:
    "file:///srv/app/index.mjs:7\nimport { formatTime } from './format.mjs';\n         ^\nSyntaxError: x\n    at ModuleJob._instantiate (node:internal/modules/esm/module_job:213:21)",
};
const noWatchers: ErrorFacts = {
  name: 'Error',
  code: 'ENOSPC',
  message: 'ENOSPC: System limit for number of file watchers reached',
  properties: { syscall: 'watch' },
};
const diskFull: ErrorFacts = {
  name: 'Error',
  code: 'ENOSPC',
  message: 'ENOSPC: no space left on device, write',
};
const workerMemory: ErrorFacts = { name: 'Error', code: 'ERR_WORKER_OUT_OF_MEMORY', message: 'memory limit' };
const difference = { name: 'left-pad', locked: '1.3.0', installed: '1.1.0', problem: 'another version' };
const drift = { lockFile: '/srv/app/package-lock.json', kind: 'npm' as const, differences: [difference] };
const cacheFiles = Array.from({ length: 500 }, (_, fd) => ({ fd, kind: 'file', target: `/tmp/cache/${fd}` }));

const table: [string, VerdictFacts, string, RegExp][] = [
  [
    'a throw',
    uncaught(typeError),
    'uncaught-exception',
    /^TypeError: Cannot read .* at src\/agent\.ts:42:5 /,
  ],
  [
    'a throw that the host handles',
    uncaught(typeError, { trigger: { kind: 'uncaught-exception', isMainThread: true, handledByHost: true } }),
    'uncaught-exception',
    /A handler received it, so the process may have continued.*There is a handler for it; whose it is, is not known/,
  ],
  [
    'a throw that a handler of a package receives',
    uncaught(typeError, {
      trigger: {
        kind: 'uncaught-exception',
        isMainThread: true,
        handledByHost: true,
        handledBy: 'uncaughtException',
      },
      rest: {
        handlerFrames: [
          { file: '/srv/app/node_modules/@acme/agents/dist/trace.js', line: 3, column: 5, inApp: false },
        ] as Frame[],
      },
    }),
    'uncaught-exception',
    /A handler of @acme\/agents received it, so.*There is a handler for uncaughtException of @acme\/agents \(node_modules/,
  ],
  [
    'a throw that handlers of the program and of a package receive',
    uncaught(typeError, {
      trigger: { kind: 'uncaught-exception', handledByHost: true, handledBy: 'uncaughtException' },
      rest: {
        handlerFrames: [
          { file: '/srv/app/src/main.ts', line: 9, column: 1, inApp: true },
          { file: '/srv/app/node_modules/acme/index.js', line: 3, column: 5, inApp: false },
        ] as Frame[],
      },
    }),
    'uncaught-exception',
    /Handlers of the program and of acme received it.*own uncaughtException handler \(src\/main\.ts:9:1\)/,
  ],
  [
    'an abort whose reason its client left out',
    uncaught(
      { name: 'APIUserAbortError', message: 'Request was aborted.' },
      { rest: { abortReasons: [{ name: 'Error', message: 'budget spent' }] } },
    ),
    'uncaught-exception',
    /aborted with the reason Error: budget spent, the only one that was found/,
  ],
  [
    'a deploy while a worker spins',
    facts({
      trigger: { kind: 'signal', signal: { name: 'SIGTERM', number: 15 }, handledByHost: false },
      rest: {
        handles: {
          busyWorkers: [{ threadId: 1, name: 'miner', lookedMs: 15, activeMs: 1200, inAllMs: 1400 }],
        },
      },
    }),
    'terminated',
    /^Stopped by SIGTERM after 12 s while worker thread 1 \(miner\) was busy.*not idle in the 15 ms.*active for 1\.2 s of 1\.4 s/,
  ],
  [
    'a throw whose handler was not seen to return',
    inHandler({ event: 'handling' }),
    'uncaught-exception',
    /The handler was not seen to return: it threw as well \(exit code 7\), ended the process itself, or was still running\. If it threw,.*that it returned was not seen/,
  ],
  [
    'a throw whose handler threw another error',
    inHandler({ event: 'died', exitCode: 7, next: 'later.agentdump' }),
    'uncaught-exception',
    /The handler threw another error, so Node ended the process with exit code 7; the bundle later\.agentdump is about that/,
  ],
  [
    'a throw that its handler threw again',
    inHandler({ event: 'died', exitCode: 7, rethrown: true }),
    'uncaught-exception',
    /The handler threw it again, so Node ended the process with exit code 7\. .*exit code other than 7/,
  ],
  [
    'a throw whose handler threw, seen by the supervisor',
    inHandler({ event: 'died', exitCode: 7 }),
    'uncaught-exception',
    /The handler threw as well, so Node ended the process with exit code 7/,
  ],
  [
    'a rejection whose monitor was not seen to return',
    inHandler({ event: 'handling' }, { kind: 'unhandled-rejection', handledByHost: false }),
    'unhandled-rejection',
    /^(?!.*exit code 1\b).*listener of uncaughtExceptionMonitor was not seen to return.*that it returned was not seen.*exit code other than 7/,
  ],
  [
    'a module whose evaluation fails',
    uncaught(typeError, { trigger: { kind: 'uncaught-exception', origin: 'unhandledRejection' } }),
    'uncaught-exception',
    /Node raised uncaughtException because the evaluation of a module failed\./,
  ],
  ['an error and no trigger', facts({ error: typeError }), 'uncaught-exception', /"confidence":"likely"/],
  [
    'a thrown text',
    uncaught({ message: 'boom' }, { rest: { thrownType: 'string' } }),
    'uncaught-exception',
    /^Thrown string: boom.*Throw an Error/,
  ],
  [
    'nothing that is thrown',
    uncaught({ message: 'undefined' }, { rest: { thrownType: 'undefined' } }),
    'uncaught-exception',
    /^Thrown undefined(?!:)/,
  ],
  [
    'an aggregate',
    uncaught({
      name: 'AggregateError',
      message: 'All promises were rejected',
      errors: [
        {
          name: 'Error',
          message: 'bad key',
          properties: { status: 401, requestID: 'r1' },
          frames: [frame('APIError.generate', '/srv/app/node_modules/openai/error.js'), ...appFrames],
        },
        {},
      ],
    }),
    'uncaught-exception',
    /^AggregateError: .* at src\/agent\.ts:42:5.*It contains 2 errors, the first: Error: bad key at.*refused the cred/,
  ],
  [
    'a rejection',
    facts({ trigger: { kind: 'unhandled-rejection', handledByHost: false }, error: typeError }),
    'unhandled-rejection',
    /no handler was attached to it. Node treats/,
  ],
  [
    'a rejection that the host handles',
    facts({
      trigger: { kind: 'unhandled-rejection', handledByHost: true },
      error: typeError,
      rest: { promiseFrames: appFrames },
    }),
    'unhandled-rejection',
    /may have continued.*The promise comes from planNextStep/,
  ],
  [
    'a deploy',
    facts({ trigger: { kind: 'signal', signal: { name: 'SIGTERM', number: 15 }, handledByHost: false } }),
    'terminated',
    /^Stopped by SIGTERM after 12 s.*sender is not recorded.*no handler for it/,
  ],
  [
    'an interrupt that the host handles',
    facts({ trigger: { kind: 'signal', signal: { name: 'SIGINT' }, handledByHost: true } }),
    'terminated',
    /^Asked to stop by SIGINT.*Ctrl-C.*A handler received it, so the process may have shut down/,
  ],
  [
    'a signal of its own',
    facts({
      trigger: { kind: 'signal', signal: { name: 'SIGTERM', fromItself: true }, handledByHost: false },
    }),
    'terminated',
    /^The program sent itself SIGTERM.*called process\.kill for its own process after 12 s/,
  ],
  [
    'a signal that its handler sends again',
    facts({
      trigger: {
        kind: 'signal',
        signal: { name: 'SIGTERM', fromItself: true, heardMsBefore: 40 },
        handledByHost: false,
      },
    }),
    'terminated',
    /^Stopped by SIGTERM after 12 s.*sender is not recorded/,
  ],
  [
    'process.exit',
    facts({ trigger: { kind: 'exit', exitCode: 3, exitStack: 'Error' } }),
    'exit',
    /^process\.exit\(3\)/,
  ],
  [
    'an exit code that was only set',
    facts({ trigger: { kind: 'exit', exitCode: 2 } }),
    'exit',
    /^Exit code 2.*No call of process\.exit was seen/,
  ],
  [
    'an exit code after a last word on stderr',
    said(
      'stderr',
      "loading\n[error] Cannot find package 'x'\n    at load (a.js:1:2)\n}\n\nNode.js v24.1.0\n",
    ),
    'exit',
    /^Exit code 2: \[error\] Cannot find package 'x'.*On stderr it said: \[error\] Cannot find package 'x'/,
  ],
  [
    'an exit code after a last word on stdout',
    said('stdout', '3 problems\n'),
    'exit',
    /^Exit code 2: 3 problems.*On stdout/,
  ],
  [
    'a top-level await that never settles',
    facts({ trigger: { kind: 'pending-exit', exitCode: 13, pending: [], setByNode: true } }),
    'pending-exit',
    /exit code 13.*No timer, socket, request or child kept the event loop alive.*"confidence":"certain"/,
  ],
  [
    'a code of 13 that a listener may have set',
    facts({ trigger: { kind: 'pending-exit', exitCode: 13 } }),
    'pending-exit',
    /^Top-level await never settled \(exit code 13\)(?!.*Node itself)(?!.*No timer).*"confidence":"likely"/,
  ],
  [
    'an agent that gives no sign',
    facts({ trigger: { kind: 'no-progress', silence: { silentMs: 31_000, deadlineMs: 30_000, count: 1 } } }),
    'no-progress',
    /^No progress for 31 s: nothing of the agent was open.*No sign since the watch began, 31 s before; 30 s were allowed.*"confidence":"possible"/,
  ],
  [
    'a failed check of the supervisor, while the event loop turns',
    facts({ trigger: { kind: 'capture', verdictKind: 'no-progress', reason: 'no answer within 500 ms' } }),
    'no-progress',
    /^Unhealthy: no answer within 500 ms.*The supervisor: no answer within 500 ms\./,
  ],
  [
    'agents that wait for each other',
    standstill({ waitGraph: { nodes: [], edges: [], cycles: [circle] } }),
    'no-progress',
    /^No progress for 31 s: run a and run b wait for each other.*Circle of waits: run a waits for run b/,
  ],
  [
    'an agent in a loop, and something awaited',
    standstill({ loops: [loop] }),
    'no-progress',
    /^No progress for 31 s: in a loop, search\({}\) came 40 times/,
  ],
  [
    'a loop that is over is no reason',
    standstill({ loops: [{ ...loop, ongoing: false }] }),
    'no-progress',
    /^No progress for 31 s: model call to openai/,
  ],
  [
    'a top-level await in a circle',
    {
      ...facts({ trigger: { kind: 'pending-exit', exitCode: 13, pending: [] } }),
      account: standstill({ waitGraph: { nodes: [], edges: [], cycles: [circle] } }).account,
    },
    'pending-exit',
    /^Deadlock: run a and run b wait for each other/,
  ],
  [
    'exit 13 by the program itself is an exit',
    facts({ trigger: { kind: 'exit', exitCode: 13, exitStack: 'Error\n    at x' } }),
    'exit',
    /^process\.exit\(13\)/,
  ],
  [
    'a missing package',
    uncaught(missing),
    'startup-failure',
    /^The package left-pad is missing, asked for by index\.js/,
  ],
  [
    'a missing file',
    uncaught({
      name: 'Error',
      code: 'ERR_MODULE_NOT_FOUND',
      message: "Cannot find module '/srv/app/dist/x.js' imported from /srv/app/dist/main.js",
    }),
    'startup-failure',
    /^The file dist\/x\.js is missing, asked for by dist\/main\.js/,
  ],
  [
    'an addon of another Node',
    uncaught(wrongAbi),
    'startup-failure',
    /^a\.node was built for Node 16, but this is Node 20 .*NODE_MODULE_VERSION 93 against 115/,
  ],
  [
    'a syntax error',
    uncaught(badSyntax),
    'startup-failure',
    /^SyntaxError: Unexpected token ';' in bad\.js:7/,
  ],
  [
    'a missing attribute',
    uncaught(noAttribute),
    'startup-failure',
    /^The import of settings\.json lacks .* type: 'json'/,
  ],
  [
    'a missing export of the program itself',
    uncaught(noExportOfOwn),
    'startup-failure',
    /^\.\/format\.mjs has no export formatTime, imported in index\.mjs:7 .*Compare the name/,
  ],
  ['a missing export', uncaught(noExport), 'startup-failure', /^The package left-pad does not export pad/],
  [
    'a load that fails late',
    uncaught(missing, { uptimeMs: 3_600_000 }),
    'uncaught-exception',
    /^The package left-pad is missing, asked for by index\.js Uncaught exception .*asked for while the program was at work/,
  ],
  [
    'bad JSON parsed by the program is no start-up failure',
    uncaught({
      name: 'SyntaxError',
      message: 'Unexpected end of JSON input',
      frames: [{ function: 'JSON.parse', inApp: false, trust: 'stack-text' }, ...appFrames],
    }),
    'uncaught-exception',
    /SyntaxError/,
  ],
  [
    'a missing package that the lock file has',
    uncaught(missing, { rest: { drift: { ...drift, missing: { specifier: 'left-pad' } } } }),
    'dependency-drift',
    /^left-pad is not the version of the lock file: locked 1\.3\.0, installed 1\.1\.0/,
  ],
  [
    'a function that a drifted package lost',
    uncaught(
      { name: 'TypeError', message: 'x.pad is not a function', frames: inLeftPad },
      { rest: { drift } },
    ),
    'dependency-drift',
    /It was thrown in code of left-pad/,
  ],
  [
    'a refused connection inside a drifted package is no drift',
    uncaught(
      { name: 'Error', code: 'ECONNREFUSED', message: 'connect', frames: inLeftPad },
      { rest: { drift } },
    ),
    'uncaught-exception',
    /Check that the service at that address was up/,
  ],
  [
    'a mere resemblance of names stays another reading',
    uncaught(
      { name: 'TypeError', message: 'leftPad.go is not a function', frames: appFrames },
      { rest: { drift } },
    ),
    'uncaught-exception',
    /"alternatives":\[\{"kind":"dependency-drift"/,
  ],
  [
    'drift with an error elsewhere',
    uncaught(typeError, { rest: { drift } }),
    'uncaught-exception',
    /TypeError/,
  ],
  [
    'no descriptors left',
    uncaught(
      { name: 'Error', code: 'EMFILE', message: 'EMFILE: too many open files, open' },
      {
        limits: { 'Max open files': { soft: '1024', hard: '4096' } },
        rest: {
          handles: {
            // The limit is of the numbers: one above it was inherited.
            descriptorCount: 1025,
            descriptors: [...cacheFiles, { fd: 4000, kind: 'pipe', target: 'pipe:[1]' }],
          },
        },
      },
    ),
    'resource-exhaustion',
    /file descriptors: 1,024 of 1,024 open.*500 of 501 listed point into \/tmp\/cache/,
  ],
  [
    'a full disk, below another error',
    uncaught({ name: 'Error', message: 'save failed', cause: diskFull }),
    'resource-exhaustion',
    /^The disk is full/,
  ],
  ['no watchers left', uncaught(noWatchers), 'resource-exhaustion', /limit of watched files/],
  [
    'a read that would block is no exhaustion',
    uncaught({ name: 'Error', code: 'EAGAIN', message: 'EAGAIN: resource temporarily unavailable, read' }),
    'uncaught-exception',
    /EAGAIN/,
  ],
  [
    'a worker ends',
    facts({
      trigger: {
        kind: 'worker-death',
        worker: { threadId: 3, name: 'Parser', exitCode: 5 },
        handledByHost: false,
      },
    }),
    'worker-death',
    /^Worker thread 3 \(Parser\) ended with exit code 5/,
  ],
  [
    'a worker throws',
    facts({ trigger: { kind: 'uncaught-exception', isMainThread: false, threadId: 2 }, error: typeError }),
    'worker-death',
    /^Worker thread 2 died: TypeError/,
  ],
  [
    'a worker that handles its rejection lives on',
    facts({
      trigger: { kind: 'unhandled-rejection', isMainThread: false, threadId: 2, handledByHost: true },
      error: typeError,
    }),
    'unhandled-rejection',
    /^TypeError(?!.*died).*worker thread 2/s,
  ],
  [
    'a worker runs out of memory',
    facts({
      trigger: {
        kind: 'worker-death',
        worker: { threadId: 1, resourceLimits: { maxOldGenerationSizeMb: 16 } },
      },
      error: workerMemory,
    }),
    'worker-death',
    /ran out of memory \(its own heap limit\).*maxOldGenerationSizeMb 16/,
  ],
  [
    'a worker out of memory, seen by the main thread',
    uncaught(workerMemory),
    'worker-death',
    /reached the limit/,
  ],
  [
    'a snapshot by signal, with an error lying around',
    facts({ trigger: { kind: 'snapshot-signal', signal: { name: 'SIGUSR2' } }, error: missing }),
    'snapshot',
    /SIGUSR2 asked for it.*process went on/,
  ],
  [
    'a snapshot by call',
    facts({ trigger: { kind: 'snapshot-call', reason: 'slow' } }),
    'snapshot',
    /for it: slow/,
  ],
  [
    'a capture that somebody had a reason for',
    facts({ trigger: { kind: 'capture', reason: 'resident memory 313 MB is over the limit of 300 MB' } }),
    'snapshot',
    /A snapshot of a live process: resident memory 313 MB is over the limit of 300 MB/,
  ],
  [
    'a heap that ran out',
    facts({ rest: { reportEvent: 'Allocation failed - JavaScript heap out of memory' } }),
    'heap-out-of-memory',
    /Node reported: Allocation failed/,
  ],
  ['nothing', facts({}), 'unknown', /does not say why/],
];

for (const [name, given, kind, pattern] of table)
  test(`${kind}: ${name}`, () => {
    const verdict = reachVerdict(given);
    const { title, summary, evidence, nextSteps } = verdict;
    const all = [title, summary, ...evidence.map((e) => e.fact), ...nextSteps, JSON.stringify(verdict)].join(
      ' ',
    );
    assert.equal(verdict.kind, kind, all);
    assert.match(all, pattern);
    assert.ok(title.length <= 100, title);
    assert.ok(verdict.refutedBy && nextSteps.length > 0);
    assert.ok(kind === 'unknown' || evidence.length > 0);
  });

test('every cause has a kind of the contract, and its own', () => {
  const kinds = causes.map((cause) => cause.kind);
  // A test that ran too long makes no progress either, but has its own wording.
  assert.deepEqual(
    kinds.filter((kind, at) => kinds.indexOf(kind) !== at),
    ['no-progress'],
  );
  for (const kind of kinds) assert.ok(verdictKinds.includes(kind));
  assert.equal(kinds.at(-1), 'unknown');
});

const onMain = (frames: Frame[]): Partial<VerdictFacts>['account'] => ({
  schema: 'agentdump.analysis/1',
  process: { cwd: '/srv/app', pid: 7 },
  threads: [{ id: 0, kind: 'main', crashed: false, frames }],
  gaps: [],
});
const spinStack = (innermost: string) =>
  `Main thread\n    at ${innermost}\n    at retry (/srv/app/a.js:10:3)\n    at tick (/srv/app/a.js:20:3)`;
const spinFrames = [
  frame('backOff', '/srv/app/a.js', 3),
  frame('retry', '/srv/app/a.js', 10),
  frame('tick', '/srv/app/a.js', 20),
];

test('of a loop the function that every look has in common is named, not what it calls', () => {
  const verdict = reachVerdict({
    account: onMain(spinFrames)!,
    trigger: {
      kind: 'stall',
      exitStack: spinStack('backOff (/srv/app/a.js:3:1)'),
      stall: {
        silentMs: 5100,
        limitMs: 5000,
        where: 'javascript',
        cpuMs: 4900,
        laterStacks: [spinStack('log (/srv/app/a.js:5:1)')],
      },
    },
  });
  assert.equal(verdict.kind, 'event-loop-hang');
  assert.equal(verdict.confidence, 'certain');
  assert.match(verdict.title, /^The event loop hangs in retry \(a\.js:10:5\)$/);
  assert.deepEqual(verdict.place, { function: 'retry', file: '/srv/app/a.js', line: 10, column: 5 });
});

test('of a main thread that got no processor nobody says that it waited, nor that its code is surely to blame', () => {
  const verdict = reachVerdict({
    account: onMain(spinFrames)!,
    trigger: {
      kind: 'stall',
      exitStack: spinStack('backOff (/srv/app/a.js:3:1)'),
      stall: { silentMs: 1200, limitMs: 1000, where: 'javascript', cpuMs: 40, queuedMs: 1100 },
    },
  });
  assert.equal(verdict.confidence, 'likely');
  assert.match(verdict.summary, /was in JavaScript for 1\.2 s.*For 1\.1 s of it .* got no processor/);
});

test('a thread was not queued while it ran: both times together are no longer than the silence', () => {
  const verdictOf = (cpuMs: number) =>
    reachVerdict({
      account: onMain(spinFrames)!,
      trigger: {
        kind: 'stall',
        stall: { silentMs: 5800, limitMs: 5000, where: 'javascript', cpuMs, queuedMs: 19_000 },
      },
    });
  const verdict = verdictOf(1400);
  assert.match(verdict.summary, /For 4\.4 s of it .* got no processor/);
  assert.ok(verdict.evidence.some(({ fact }) => /^It was ready to run for 4\.4 s without/.test(fact)));
  const busy = verdictOf(6000);
  assert.doesNotMatch(JSON.stringify(busy), /got no processor|without getting a processor/);
});

test('a child of which the system has no command yet is told without one', () => {
  const titleOf = (command: string) =>
    reachVerdict({
      account: onMain([])!,
      trigger: { kind: 'stall', stall: { where: 'native', silentMs: 5000, cpuMs: 10 } },
      handles: { children: [{ pid: 12, command }] } as unknown as NonNullable<VerdictFacts['handles']>,
    }).title;
  assert.match(titleOf('git gc'), / while it waits for `git gc`$/);
  assert.match(titleOf(''), / while it waits for a child process$/);
});

test('a thread that waits, one that promises starve and one in native code are told apart', () => {
  const summaryOf = (stall: NonNullable<VerdictFacts['trigger']>['stall']) =>
    reachVerdict({ account: onMain([])!, trigger: { kind: 'stall', ...(stall && { stall }) } }).summary;
  assert.match(
    summaryOf({ where: 'javascript', silentMs: 5000, cpuMs: 10, queuedMs: 3 }),
    /has waited for 5 s/,
  );
  assert.match(summaryOf({ where: 'javascript', silentMs: 5000, cpuMs: 10 }), /was in JavaScript for 5 s/);
  assert.match(summaryOf({ where: 'javascript', silentMs: 5000, microtasksRan: true }), /Promises starve/);
  assert.match(
    summaryOf({ where: 'javascript', silentMs: 5000, microtasksRan: true, cpuMs: 10, queuedMs: 3 }),
    /^The event loop did not turn for 5 s, .* waited in synchronous calls .* promises ran between them/,
  );
  // Outside of Linux it is not known how long a thread was queued.
  assert.match(
    summaryOf({ where: 'javascript', silentMs: 5000, microtasksRan: true, cpuMs: 10 }),
    /waited in synchronous calls .* or for a processor/,
  );
  assert.match(
    summaryOf({ where: 'javascript', silentMs: 5000, microtasksRan: true, cpuMs: 4900 }),
    /Promises starve/,
  );
  assert.match(summaryOf({ where: 'native', silentMs: 5000, cpuMs: 10 }), /native code/);
  assert.match(
    summaryOf({ where: 'native', silentMs: 5000, cpuMs: 10, queuedMs: 4500 }),
    /^The event loop did not turn for 5 s, and the main thread did not stop .* For 4\.5 s of it .* no processor/,
  );
  assert.match(
    summaryOf({ where: 'native', silentMs: 5000, cpuMs: 10, queuedMs: 4500, cpuWhileAskedMs: 220 }),
    /^The main thread was in native code .* For 4\.5 s of it .* no processor/,
  );
});

test('a signal that met a short silence is a request to stop, with the silence as another reading', () => {
  const verdict = reachVerdict({
    account: onMain(spinFrames)!,
    trigger: {
      kind: 'signal',
      signal: { name: 'SIGTERM' },
      stall: { where: 'javascript', silentMs: 1100, limitMs: 5000, earlier: 0 },
    },
  });
  assert.equal(verdict.kind, 'terminated');
  assert.deepEqual(
    verdict.alternatives?.map(({ kind }) => kind),
    ['event-loop-hang'],
  );
});

test('a first line that promises more takes what stands below into the title', () => {
  const titleOf = (message: string) =>
    reachVerdict(facts({ trigger: { kind: 'uncaught-exception' }, error: { name: 'E', message } })).title;
  assert.equal(
    titleOf('failed with 2 errors:\n  a.ts:1: no\n  b.ts:2: no'),
    'E: failed with 2 errors: a.ts:1: no b.ts:2: no',
  );
  assert.equal(titleOf('failed\n  a.ts:1: no'), 'E: failed');
  assert.equal(
    titleOf("Db: run\n$ npm install pg --save\nCannot find module 'pg'\nRequire stack:\n- /srv/a.js"),
    "E: Db: run $ npm install pg --save Cannot find module 'pg'",
  );
});

test('how to see the variables of what was thrown is told where something was', () => {
  const threads = [{ id: 2, kind: 'worker' as const, crashed: true, frames: appFrames }];
  const steps = (shape: Shape) => {
    const { account, ...rest } = facts(shape);
    return reachVerdict({ ...rest, account: { ...account, threads } }).nextSteps.join('\n');
  };
  const worker = { threadId: 2, exitCode: 3 };
  const exited = steps({ trigger: { kind: 'worker-death', worker, exitStack: 'Error' } });
  assert.match(exited, /^Open src\/agent\.ts:42:5\./);
  assert.doesNotMatch(exited, /AGENTDUMP_LOCALS/);
  const threw = { trigger: { kind: 'worker-death', worker }, error: { ...typeError, frames: appFrames } };
  assert.match(steps(threw as Shape), /AGENTDUMP_LOCALS=uncaught/);
});
