/**
 * One trial: a program is sent a signal at a moment, bare and with the preload, and both must end alike, the second no
 * more than a second after the first. A program that changes its mind about signals, or ends by itself, near that moment
 * may be met on either side of the change: then bare runs a little earlier and later must show the other end too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededRandom } from '../support/seeded-random.ts';
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
  /** From the signal on, without what the machine gave it no processor; from the start on where it ended before. */
  tookMs: number;
  /** Between the signal and its end it was ready to run, and got no processor. */
  waitedMs: number;
  /** The same between its first line and the signal. */
  waitedBeforeMs: number;
  /** It ended before the signal came. */
  byItself: boolean;
  /** From its last words to the signal, without what the machine gave it no processor. */
  silentMs: number;
  /** The signal came so much later than it should have. */
  asideMs: number;
}

export interface Judged extends Trial {
  bare: string;
  loaded: string;
  /**
   * `boundary`: the bare program ends so too, so little earlier or later as the machine explains. `starved`: not the same, and the
   * machine was too busy for a trial each time.
   */
  verdict: 'same' | 'boundary' | 'differs' | 'late' | 'starved';
  /** Of a boundary: by so much another moment explains it. */
  besideMs?: number;
  lateMs: number;
}

const signals = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const firstMs = 10_000;
/** The watchdog comes up within it. */
const earlyMs = 1500;
const mostLaterMs = 1000;
/** What ends so soon after a signal, and not of it, was ending already. */
const leavingMs = 150;
/** For so long a machine that is too busy may hold the death up (docs/cost.md). */
const mostStarvedMs = 4000;
const lifeLimitMs = 30_000;
const lookAgainMs = 50;
/** A moment is counted from its first line on: how long Node takes to come there is a matter of the machine. */
const begun = /^begun (\d+)\n/gm;
const begins = "require('fs').writeSync(2, 'begun ' + Date.now() + '\\n');";
const beginsModule = "import { writeSync } from 'node:fs'; writeSync(2, 'begun ' + Date.now() + '\\n');";
/** Where the machine was so busy that the signal was sent so much too late, or that nobody ran for so long, it is no trial. */
const mostAsideMs = 250;
const mostWaitedMs = 1000;
const mostRuns = 3;
/** Around the moment, for the other side of a change: so far a timer, and the start of a process, are off on a machine in use. */
const besideMs = [150, 400] as const;

/** Every kind of program in turn; half of the moments lie where the watchdog starts. */
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
    // A process is still there for a moment after its last words, and dies of a signal then.
    const leftItself = bare.byItself || (bare.status !== trial.signal && bare.tookMs < leavingMs);
    const wasLeaving = leftItself && loaded.printed === bare.printed && loaded.status === trial.signal;
    if (wasLeaving && loaded.silentMs <= mostLaterMs) return { ...told, verdict: 'boundary', besideMs: 0 };
    if (!isInTime(bare) || !isInTime(loaded)) return { ...told, verdict: 'starved' };
    const offMs = loaded.asideMs + loaded.waitedBeforeMs + loaded.waitedMs;
    const nearMs = [...besideMs, Math.round(besideMs[1] + offMs)].flatMap((ms) => [-ms, ms]);
    // It may go on for the second in which it dies, and dies of the signal all the same.
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
    if (isInTime(end) || runs === mostRuns) return end;
  }
}

function isInTime({ asideMs, waitedMs, waitedBeforeMs }: End): boolean {
  return asideMs <= mostAsideMs && waitedMs + waitedBeforeMs <= mostWaitedMs;
}

/** The program itself is sent the signal, not its group. */
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
    // The threads of one that is leaving are counted no more.
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

/** Milliseconds for which each process, that is the thread of it that waited longest, was ready to run and got no processor. */
function readWaitMs(pids: readonly string[]): number {
  return pids.reduce((sum, pid) => sum + longestWaitMs(pid), 0);
}

/** 0 once it is gone. */
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

/** The process, and those that it has started. */
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
