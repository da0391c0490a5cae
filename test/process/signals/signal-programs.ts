/**
 * The programs of the signal trial: at least one for each state in which a main thread can be when a signal arrives. They
 * block without using a processor where that makes no difference, so that many can run in parallel. Their output shows how
 * far they came, and what their own handlers did.
 */
export interface SignalProgram {
  name: string;
  code: string;
  isModule?: boolean;
  /** The signal is sent within this time, if the default of ten seconds would show nothing more. */
  withinMs?: number;
  /** Node itself may lose a signal that arrives at this time, on a machine too busy. */
  nodeLosesAtMs?: number;
  /** The trial keeps writing to its standard input. */
  isFed?: boolean;
}

/** Longer than any trial. */
const lifeMs = 11_500;
const end = `setTimeout(() => { console.log('survived'); process.exit(0); }, ${lifeMs});`;
const block = (ms: number) => `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms});`;

export const signalPrograms: readonly SignalProgram[] = [
  { name: 'idle', code: end },
  { name: 'busy from the first line', code: `${block(lifeMs)} console.log('survived');` },
  {
    name: 'computing from the first line',
    code: `const stop = Date.now() + 3000; while (Date.now() < stop); console.log('survived');`,
    withinMs: 2500,
  },
  {
    name: 'busy now and then',
    code: `${end} const turn = () => { ${block(400)} setTimeout(turn, 150); }; setTimeout(turn, 100);`,
  },
  {
    name: 'busy while the watchdog starts',
    code: `${end} setTimeout(() => { ${block(2500)} }, 150); setTimeout(() => { ${block(2500)} }, 4000);`,
  },
  {
    name: 'execSync at the top level',
    code: `require('child_process').execSync('exec sleep 11', { stdio: 'ignore' }); console.log('survived');`,
  },
  {
    name: 'execSync in a callback',
    code: `${end} setTimeout(() => require('child_process').execSync('exec sleep 11', { stdio: 'ignore' }), 600);`,
  },
  {
    name: 'importing for long',
    isModule: true,
    code: `await import('data:text/javascript,${encodeURIComponent(block(3000))}'); await import('node:http'); ${end}`,
  },
  {
    name: 'in a worker',
    code: `${end} new (require('worker_threads').Worker)("${block(lifeMs)}", { eval: true });`,
  },
  {
    name: 'waiting for a worker',
    code: `const w = new (require('worker_threads').Worker)("setTimeout(() => {}, ${lifeMs})", { eval: true });
      w.on('online', () => { ${block(5000)} }); w.on('exit', () => console.log('survived'));`,
  },
  {
    name: 'own handler from the start',
    code: `for (const s of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(s, () => { console.log('own', s); process.exit(7); }); ${end}`,
  },
  {
    name: 'own handler that goes on',
    code: `let n = 0; for (const s of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(s, () => { console.log('own', s, ++n); setTimeout(() => process.exit(8), 200); }); ${end}`,
  },
  {
    name: 'own handler, and busy',
    code: `process.on('SIGTERM', () => { console.log('own'); process.exit(9); }); ${end} setTimeout(() => { ${block(2500)} }, 300);`,
    withinMs: 4000,
  },
  {
    name: 'own handler added late',
    code: `${end} setTimeout(() => { for (const s of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(s, () => { console.log('own', s); process.exit(7); }); }, 2000);`,
  },
  {
    name: 'own handler added while busy',
    code: `${end} setTimeout(() => { ${block(1500)} process.on('SIGTERM', () => { console.log('own'); process.exit(7); }); ${block(1500)} }, 1000);`,
    withinMs: 5000,
  },
  // Node itself loses a signal that arrives while the process has no processor and this timer becomes due: libuv's poll is
  // interrupted, its time is over, and the timer closes the handle before the signal's pipe is read. Seen bare on Node 20,
  // 22, 24 and 26 (SIGSTOP before the timer, SIGHUP, SIGCONT after it). A trial on a starved machine may encounter it.
  {
    name: 'own handler removed',
    code: `const f = () => { console.log('own'); process.exit(7); }; for (const s of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(s, f);
      setTimeout(() => { for (const s of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.off(s, f); }, 1500); ${end}`,
    nodeLosesAtMs: 1500,
  },
  {
    name: 'once, and again by itself',
    code: `for (const s of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.once(s, () => { console.log('cleaning up'); process.kill(process.pid, s); }); ${end}`,
  },
  {
    name: 'all listeners removed',
    code: `process.on('SIGTERM', () => {}); process.removeAllListeners(); process.on('SIGTERM', () => console.log('never')); ${end}`,
  },
  {
    name: 'serving',
    code: `${end} const server = require('http').createServer((q, r) => r.end('ok')).listen(0, '127.0.0.1', function ask() {
      fetch('http://127.0.0.1:' + server.address().port).then((r) => r.text()).then(() => setTimeout(ask, 200)); });`,
  },
  {
    name: 'in a child',
    code: `if (process.argv[2]) { ${end} } else {
      let c; for (const s of ['SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(s, () => c.kill(s));
      c = require('child_process').spawn(process.execPath, [...process.execArgv, __filename, 'child'], { stdio: 'inherit' });
      c.on('exit', (code, signal) => { console.log('child', code, signal); process.exit(3); }); }`,
  },
  {
    name: 'top-level await',
    isModule: true,
    code: `await new Promise((resolve) => setTimeout(resolve, 1500)); ${end} await new Promise(() => {});`,
  },
  { name: 'short-lived', code: `setTimeout(() => console.log('done'), 700);`, withinMs: 1500 },
  {
    name: 'promises starve the loop',
    code: `${end} setTimeout(async () => { const stop = Date.now() + 2500; while (Date.now() < stop) await null; }, 400);`,
    withinMs: 2500,
  },
  { name: 'reads its standard input', code: `process.stdin.on('data', () => {}); ${end}`, isFed: true },
  {
    name: 'code from the command line, in vm',
    code: `require('vm').runInThisContext(${JSON.stringify(end)});`,
  },
  {
    name: 'exit listeners that take long',
    code: `process.on('exit', () => { ${block(2500)} }); setTimeout(() => process.exit(5), 500);`,
    withinMs: 2800,
  },
  {
    name: 'no watchdog wanted',
    code: end,
  },
];

/** Environment variables for this program. */
export const settingsOf = ({ name }: SignalProgram): Record<string, string> =>
  name === 'no watchdog wanted' ? { AGENTDUMP_HANG_MS: '0' } : {};
