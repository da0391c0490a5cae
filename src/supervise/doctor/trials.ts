/**
 * The table of deaths that the doctor tries: one program per row, or several if a row has several kinds. Each is small enough
 * for a command line, and harms only itself.
 */

export interface Trial {
  /** Row in the table of deaths in docs/get-started.md. */
  row: number;
  death: string;
  /** The verdict that is expected. */
  expected: string;
  /** The command after `agentdump run --`. */
  command: readonly string[];
  /** Additional variables. */
  environment?: Record<string, string>;
  /** Spins until it is captured from outside. */
  fromOutside?: boolean;
  /** Memory limit of the cgroup in which it runs, together with its supervisor. */
  memoryLimitBytes?: number;
}

const node = process.execPath;
const code = (text: string) => [node, '-e', text];
const workerCode =
  'new (require("worker_threads").Worker)("throw new Error(1)", { eval: true }).on("error", () => {})';
/** Calls a model that never answers. */
const waitingAgent = `require("http").createServer(() => {}).listen(0, "127.0.0.1", function () {
  fetch("http://127.0.0.1:" + this.address().port + "/v1/chat/completions",
    { method: "POST", body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "?" }] }) });
  setTimeout(() => process.exit(0), 2500);
})`;

/** Harmless on any machine. */
export const trials: readonly Trial[] = [
  {
    row: 1,
    death: 'uncaught exception',
    expected: 'uncaught-exception',
    command: code('throw new Error("doctor")'),
  },
  {
    row: 2,
    death: 'unhandled rejection',
    expected: 'unhandled-rejection',
    command: code('Promise.reject(new Error("doctor"))'),
  },
  {
    row: 3,
    death: 'SIGTERM',
    expected: 'terminated',
    command: code('setInterval(() => {}, 1000); setTimeout(() => process.kill(process.pid, "SIGTERM"), 50)'),
  },
  {
    row: 4,
    death: 'snapshot of a running program, which continues',
    expected: 'snapshot',
    command: code('setTimeout(() => {}, 2000); setTimeout(() => process.kill(process.pid, "SIGUSR2"), 1000)'),
    environment: { AGENTDUMP_SNAPSHOT_SIGNAL: 'SIGUSR2' },
  },
  {
    row: 5,
    death: 'process.exit(3) of a server',
    expected: 'exit',
    command: code('require("http").createServer().listen(0, "127.0.0.1", () => process.exit(3))'),
  },
  {
    row: 5,
    death: 'a top-level await that never settles',
    expected: 'pending-exit',
    command: [node, '--input-type=module', '-e', 'await new Promise(() => {})'],
  },
  {
    row: 6,
    death: 'JavaScript heap out of memory',
    expected: 'heap-out-of-memory',
    command: [
      node,
      '--max-old-space-size=40',
      '-e',
      'const a = []; for (;;) a.push(new Array(1000).fill(1.5))',
    ],
  },
  {
    row: 7,
    death: "kernel's out-of-memory kill in a cgroup",
    expected: 'system-out-of-memory',
    command: code('const a = []; setInterval(() => a.push(Buffer.alloc(2e7, 1)), 50)'),
    memoryLimitBytes: 400 * 2 ** 20,
  },
  { row: 8, death: 'SIGKILL', expected: 'killed', command: code('process.kill(process.pid, "SIGKILL")') },
  {
    row: 9,
    death: 'native crash (stack overflow)',
    expected: 'native-crash',
    command: [node, '--stack-size=60000', '-e', 'function f() { f(); } f()'],
  },
  { row: 10, death: 'abort', expected: 'abort', command: code('process.abort()') },
  {
    row: 11,
    death: 'busy loop, seen from within',
    expected: 'event-loop-hang',
    command: code('setTimeout(() => { const end = Date.now() + 2500; while (Date.now() < end); }, 50)'),
    environment: { AGENTDUMP_HANG_MS: '500' },
  },
  {
    row: 11,
    death: 'busy loop, captured from outside',
    expected: 'snapshot',
    command: code('for (;;);'),
    fromOutside: true,
  },
  {
    row: 12,
    death: 'alive but no progress (a model that never answers)',
    expected: 'no-progress',
    command: code(waitingAgent),
    environment: { AGENTDUMP_PROGRESS_MS: '500' },
  },
  {
    row: 13,
    death: 'memory near its limit; the program continues',
    expected: 'snapshot',
    command: [
      node,
      '--max-old-space-size=100',
      '-e',
      'const a = []; const t = setInterval(() => { for (let i = 0; i < 4; i++) a.push(new Array(125000).fill(1.5)); if (a.length > 84) { clearInterval(t); setTimeout(() => process.exit(0), 1000); } }, 20)',
    ],
    environment: { AGENTDUMP_HANG_MS: '1000' },
  },
  {
    row: 14,
    death: 'module not found at start',
    expected: 'startup-failure',
    command: code('require("no-such-module-of-the-doctor")'),
  },
  { row: 15, death: 'a worker thread dies', expected: 'worker-death', command: code(workerCode) },
  {
    row: 16,
    death: 'a child process dies and takes its server with it',
    expected: 'exit',
    command: code(
      'require("http").createServer().listen(0, "127.0.0.1"); require("child_process").spawn(process.execPath, ["-e", "throw new Error(1)"]).on("exit", () => process.exit(4))',
    ),
  },
  {
    row: 17,
    death: 'out of file descriptors',
    expected: 'resource-exhaustion',
    command: [
      '/bin/sh',
      '-c',
      `ulimit -n 64; exec "${node}" -e 'for (;;) require("fs").openSync(process.execPath)'`,
    ],
  },
];
