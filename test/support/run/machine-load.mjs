// What the machine does besides the tests, and what they cost of it.
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/** Processes that want to run, for each core, over a minute: three test files beside each other are at two. */
const mostLoad = 4;
/** By which a timer of this process, which has little to do, may be late. */
const mostLateMs = 1_000;
/** Of all time, what the host of a virtual machine gave to others. */
const mostStolen = 0.2;
const sampleMs = 250;
/** USER_HZ of Linux, which is 100 to every program. */
const ticksPerSecond = 100;

/**
 * Looks at the machine from now on.
 * @returns {() => string | undefined} ends it, and says in words how the machine was overloaded meanwhile, if it was
 */
export function watchMachine() {
  const seen = { load: 0, lateMs: 0, stolen: 0, cores: availableParallelism() };
  const begin = readTimes();
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    seen.lateMs = Math.max(seen.lateMs, now - last - sampleMs);
    seen.load = Math.max(seen.load, loadavg()[0]);
    last = now;
  }, sampleMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    const end = readTimes();
    const all = end.all - begin.all;
    if (all > 0) seen.stolen = (end.stolen - begin.stolen) / all;
    return describeOverload(seen);
  };
}

/** `load`: of a minute, by all cores. `stolen`: a share of 1. */
export function describeOverload({ load, lateMs, stolen, cores }) {
  if (load > mostLoad * cores) return `a load of ${load.toFixed(0)} on ${cores} cores`;
  if (lateMs > mostLateMs) return `no turn for any process for ${(lateMs / 1000).toFixed(1)} s`;
  if (stolen > mostStolen) return `${(100 * stolen).toFixed(0)} % of the time given to other machines`;
  return undefined;
}

/** The first line of /proc/stat (proc(5)), in ticks: the eighth column is what was stolen. */
function readTimes() {
  const ticks = (readProc('stat').split('\n', 1)[0].match(/\d+/g) ?? []).map(Number).slice(0, 8);
  return { all: ticks.reduce((sum, one) => sum + one, 0), stolen: ticks[7] ?? 0 };
}

/** Seconds of processor that children of this process took which have ended and were waited for, with theirs; 0 if unknown. */
export function secondsOfChildren() {
  const [, , ...fields] = readProc('self/stat').replace(/^.*\)/s, 'pid comm').split(' ');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / ticksPerSecond;
}

let secondsTaken = 0;

/**
 * Seconds of processor of the children that ended since the last call, with theirs. Called when one has ended, they are its:
 * the system adds a child's time at its end.
 */
export function takeSecondsOfEnded() {
  const all = secondsOfChildren();
  const seconds = all - secondsTaken;
  secondsTaken = all;
  return seconds;
}

/** '' on systems that have none. */
function readProc(name) {
  try {
    return readFileSync(`/proc/${name}`, 'latin1');
  } catch {
    return '';
  }
}
