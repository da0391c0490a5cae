/**
 * One trial: a program is sent a signal at a given time, bare and with the preload. Both must end alike, the second at most a
 * second after the first. If the program changes its handling of signals, or ends by itself, near that time, the signal may
 * arrive on either side of the change: then bare runs a little earlier and later must show the other end too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededRandom } from '../../support/synth/seeded-random.ts';
import { type SignalProgram, settingsOf, signalPrograms } from './signal-programs.ts';

export interface Trial {
  program: SignalProgram;
  signal: NodeJS.Signals;
  afterMs: number;
}

interface End {
  /** Exit code or signal. */
  status: string;
  printed: string;
  /**
   * From the signal to the end, or from the start if it ended before the signal; without the time that it waited for a
   * processor.
   */
  tookMs: number;
  /** Time between the signal and its end in which it was ready to run but had no processor. */
  waitedMs: number;
  /** The same between its first line and the signal. */
  waitedBeforeMs: number;
  /** It ended before the signal was sent. */
  byItself: boolean;
  /** From its last output to the signal, without the time that it waited for a processor. */
  silentMs: number;
  /** How much later than planned the signal was sent. */
  asideMs: number;
}

export interface Judged extends Trial {
  bare: string;
  loaded: string;
  /**
   * `boundary`: the bare program also ends this way with a signal slightly earlier or later. `starved`: the ends differ, and
   * the machine was too busy for a valid trial each time. A program that has ignored the signal is never excused so.
   */
  verdict: 'same' | 'boundary' | 'differs' | 'late' | 'starved';
  /** Of a `boundary`: the shift in time that explains it. */
  besideMs?: number;
  lateMs: number;
}

const signals = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const firstMs = 10_000;
/** The watchdog starts within this time. */
const earlyMs = 1500;
const mostLaterMs = 1000;
/** A program that ends this soon after a signal, but not of it, was already ending. */
const leavingMs = 150;
/** A machine that is too busy may delay the death by this much (docs/cost.md). */
const mostStarvedMs = 4000;
const lifeLimitMs = 30_000;
const lookAgainMs = 50;
/** Times count from this first line, because how long Node takes to get there depends on the machine. */
const begun = /^begun (\d+)\n/gm;
const begins = "require('fs').writeSync(2, 'begun ' + Date.now() + '\\n');";
const beginsModule = "import { writeSync } from 'node:fs'; writeSync(2, 'begun ' + Date.now() + '\\n');";
/**
 * A trial is invalid if the machine was so busy that the signal was sent this much too late, or the process waited this long.
 */
const mostAsideMs = 250;
const mostWaitedMs = 1000;
const mostRuns = 3;
/**
 * Shifts of the time of the signal, to find the other side of a change: timers and process starts are off by this much on a
 * machine in use.
 */
const besideMs = [150, 400] as const;

/** Every kind of program in turn. Half of the signals arrive while the watchdog starts. */
export function planTrials(count: number, seed: number): Trial[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, at) => {
    const program = signalPrograms[at % signalPrograms.length] as SignalProgram;
    const most = program.withinMs ?? firstMs;
    const isEarly = random.next() < 0.5;
    const signal = random.pick(signals);
    return { program, signal, afterMs: random.below(isEarly ? Math.min(earlyMs, most) : most) };
  });
}

export async function judge(
  trial: Trial,
  place: { node: string; preload: string; dir: string },
): Promise<Judged> {
  mkdirSync(place.dir, { recursive: true });
  try {
    const bare = await run(trial, place.node, [], place.dir);
    const loaded = await run(trial, place.node, ['--require', place.preload], place.dir);
    const lateMs = Math.round(loaded.tookMs - bare.tookMs);
    const told = { ...trial, bare: textOf(bare), loaded: textOf(loaded), lateMs };
    if (told.bare === told.loaded) return { ...told, verdict: lateMs > mostLaterMs ? 'late' : 'same' };
    // A process still exists for a moment after its last output, and a signal kills it then.
    const leftItself = bare.byItself || (bare.status !== trial.signal && bare.tookMs < leavingMs);
    const wasLeaving = leftItself && loaded.printed === bare.printed && loaded.status === trial.signal;
    if (wasLeaving && loaded.silentMs <= mostLaterMs) return { ...told, verdict: 'boundary', besideMs: 0 };
    if (!hasIgnored(loaded) && !(isInTime(bare) && isInTime(loaded))) return { ...told, verdict: 'starved' };
    const lostAtMs = trial.program.nodeLosesAtMs;
    const offMs = loaded.asideMs + loaded.waitedBeforeMs + loaded.waitedMs;
    const farMs = Math.round(besideMs[1] + (hasIgnored(loaded) ? loaded.asideMs : offMs));
    const nearMs = [...besideMs, farMs].flatMap((ms) => [-ms, ms]);
    if (lostAtMs !== undefined && Math.abs(trial.afterMs - lostAtMs) <= besideMs[1] + offMs)
      return { ...told, verdict: 'boundary', besideMs: lostAtMs - trial.afterMs };
    // It may continue for the second in which it dies, and still die of the signal.
    const dyingMs = Math.round(mostLaterMs + Math.min(loaded.waitedMs, mostStarvedMs));
    for (const besides of loaded.status === bare.status ? [...nearMs, dyingMs] : nearMs) {
      const afterMs = Math.max(0, trial.afterMs + besides);
      const beside = await run({ ...trial, afterMs }, place.node, [], place.dir);
      const wentOn = besides > 0 && loaded.status === bare.status && loaded.printed === beside.printed;
      if (textOf(beside) === told.loaded || wentOn)
        return { ...told, verdict: 'boundary', besideMs: besides };
    }
    return { ...told, verdict: 'differs' };
  } finally {
    rmSync(place.dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function run(trial: Trial, node: string, flags: string[], dir: string): Promise<End> {
  for (let runs = 1; ; runs++) {
    const end = await runOnce(trial, node, flags, dir);
    if (isInTime(end) || hasIgnored(end) || runs === mostRuns) return end;
  }
}

/** It ran to its own end, and printed nothing else, although it was sent the signal long before. */
function hasIgnored({ status, printed, byItself, tookMs }: End): boolean {
  return status === '0' && printed.startsWith('"survived') && !byItself && tookMs > leavingMs;
}

function isInTime({ asideMs, waitedMs, waitedBeforeMs }: End): boolean {
  return asideMs <= mostAsideMs && waitedMs + waitedBeforeMs <= mostWaitedMs;
}

/** Only the program itself is sent the signal, not its process group. */
function runOnce(
  { program, signal, afterMs }: Trial,
  node: string,
  flags: string[],
  dir: string,
): Promise<End> {
  const file = join(dir, `program.${program.isModule ? 'mjs' : 'cjs'}`);
  writeFileSync(file, `${program.isModule ? beginsModule : begins}${program.code}`);
  const child = spawn(node, [...flags, file], {
    cwd: dir,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: dir,
      AGENTDUMP_DIR: join(dir, 'dumps'),
      ...settingsOf(program),
    },
  });
  const feeding = program.isFed ? setInterval(() => child.stdin.write('line\n'), 100) : undefined;
  child.stdin.on('error', () => {});
  const startedAt = performance.now();
  let sentAt: number | undefined;
  let lookingAgain: NodeJS.Timeout | undefined;
  let waitedMs = 0;
  let spoke = { atMs: startedAt, waitMs: 0 };
  let silentMs = 0;
  let begunWaitMs = 0;
  let waitedBeforeMs = 0;
  let asideMs = 0;
  const send = (): void => {
    const family = familyOf(child.pid);
    const before = readWaitMs(family);
    lookingAgain = setInterval(() => {
      waitedMs = Math.max(waitedMs, readWaitMs(family) - before);
    }, lookAgainMs);
    asideMs = Date.now() - dueAt;
    sentAt = performance.now();
    // Once the process is exiting, its threads are no longer counted.
    const waitMs = readWaitMs([String(child.pid)]);
    waitedBeforeMs = Math.max(0, waitMs - begunWaitMs);
    const starvedMs = Math.max(0, waitMs - spoke.waitMs);
    silentMs = sentAt - spoke.atMs - starvedMs;
    child.kill(signal);
  };
  let sending: NodeJS.Timeout | undefined;
  let dueAt = 0;
  const words = { stdout: '', stderr: '' };
  return new Promise((resolve, reject) => {
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        words[name] += text;
        if (sentAt === undefined)
          spoke = { atMs: performance.now(), waitMs: readWaitMs([String(child.pid)]) };
        const [first] = words.stderr.matchAll(begun);
        if (sending || !first) return;
        dueAt = Number(first[1]) + afterMs;
        begunWaitMs = spoke.waitMs;
        sending = setTimeout(send, Math.max(0, dueAt - Date.now()));
      });
    const limit = setTimeout(() => child.kill('SIGKILL'), lifeLimitMs);
    child.once('error', reject);
    let tookMs = 0;
    child.once('exit', () => {
      tookMs = performance.now() - (sentAt ?? startedAt) - waitedMs;
    });
    child.once('close', (code, died) => {
      clearTimeout(limit);
      clearTimeout(sending);
      clearInterval(feeding);
      clearInterval(lookingAgain);
      const printed = describePrinted(child, words);
      const byItself = sentAt === undefined;
      const waits = { waitedMs, waitedBeforeMs, asideMs };
      resolve({ status: String(code ?? died), printed, tookMs, byItself, silentMs, ...waits });
    });
  });
}

/**
 * Sum over the processes, in milliseconds, of the time that each one's longest-waiting thread was ready to run but had no
 * processor.
 */
function readWaitMs(pids: readonly string[]): number {
  return pids.reduce((sum, pid) => sum + longestWaitMs(pid), 0);
}

/** 0 if the process is gone. */
function longestWaitMs(pid: string): number {
  try {
    const waits = readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[1]),
    );
    return Math.max(...waits) / 1e6;
  } catch {
    return 0;
  }
}

/** The process and its children. */
function familyOf(pid: number | undefined): string[] {
  const isChild = (other: string): boolean => {
    try {
      return new RegExp(`^PPid:\\s+${pid}$`, 'm').test(readFileSync(`/proc/${other}/status`, 'latin1'));
    } catch {
      return false;
    }
  };
  return [String(pid), ...readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChild(name))];
}

const textOf = ({ status, printed }: End): string => `${status} ${printed}`;

function describePrinted(
  { pid }: ChildProcess,
  { stdout, stderr }: { stdout: string; stderr: string },
): string {
  const theirs = stderr
    .replace(begun, '')
    .split('\n')
    .filter((line) => !line.startsWith('agentdump:'))
    .join('\n')
    .replaceAll(String(pid), 'PID');
  return `${JSON.stringify(stdout)} ${JSON.stringify(theirs)}`;
}
