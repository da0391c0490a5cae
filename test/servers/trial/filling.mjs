// How a request fills the heap, blocks the loop or ends the process, or how many fill the heap together. `tell` writes the truth
// before: the one request, or `nobody` where it is no single one's doing. `dies` in one of the fifty.
import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const hoard = [];
/** Some 8 KB of objects. */
const piece = () => Array.from({ length: 100 }, (_, n) => ({ n, at: [n, n + 1] }));
const keep = (kb) => {
  for (let i = 0; i < kb; i += 8) hoard.push(piece());
};
const bus = new EventEmitter().setMaxListeners(0);
const jobs = [];
let hasTimer = false;
/** Share of the heap that all fifty keep before, in KB for each. */
const limitKb = 96 * 1024;
let told = false;
const tellNobody = ({ nobody }) => {
  if (!told) nobody();
  told = true;
};

export const fillings = {
  'one loop': ({ dies, tell }) => {
    if (!dies) return;
    tell();
    for (;;) keep(64);
  },
  'one loop in a timer': ({ dies, tell }) =>
    dies &&
    setTimeout(() => {
      tell();
      for (;;) keep(64);
    }, 20),
  'one loop of awaits that never come back': async ({ dies, tell }) => {
    if (!dies) return;
    tell();
    for (;;) {
      keep(64);
      await null;
    }
  },
  'one loop over turns': async ({ dies, tell }) => {
    if (!dies) return;
    tell();
    for (;;) {
      keep(256);
      await pause(1);
    }
  },
  'one parse': ({ dies, tell }) => {
    if (!dies) return;
    tell();
    const text = JSON.stringify(piece());
    for (;;) hoard.push(JSON.parse(text));
  },
  'a cache that all fill': async (context) => {
    tellNobody(context);
    for (;;) {
      keep(16);
      await pause(1 + Math.random() * 5);
    }
  },
  'a cache that all fill at once': async (context) => {
    tellNobody(context);
    await pause(context.dies ? 30 : Math.random() * 30);
    keep((limitKb / 50) * 1.6);
  },
  'a leak that any would have ended': async (context) => {
    tellNobody(context);
    keep((limitKb / 50) * 0.75);
    await pause(400);
    if (context.dies) keep(limitKb);
  },
  'a batch of all, run by the last': async (context) => {
    tellNobody(context);
    jobs.push(() => keep((limitKb / 50) * 2));
    await pause(50);
    if (context.dies) for (const job of jobs) job();
  },
  'a timer of all, begun by the first': async (context) => {
    tellNobody(context);
    jobs.push(() => keep((limitKb / 50) * 2));
    await pause(30);
    if (hasTimer) return;
    hasTimer = true;
    setInterval(() => {
      for (const job of jobs) job();
    }, 5);
  },
  'a listener of another': async ({ dies, tell, at }) => {
    bus.on('go', () => {
      if (!dies) return;
      tell();
      for (;;) keep(64);
    });
    await pause(50);
    if (at === 7) bus.emit('go');
  },
};

export const stops = {
  'a loop': ({ dies, tell }) => {
    if (!dies) return;
    tell();
    for (;;);
  },
  'a loop after awaits': async ({ dies, tell }) => {
    await pause(5);
    await null;
    if (!dies) return;
    tell();
    for (let n = 0; ; n++) Math.sqrt(n);
  },
  'a loop of awaits that never come back': async ({ dies, tell }) => {
    if (!dies) return;
    tell();
    for (;;) await null;
  },
  'a child that is waited for': ({ dies, tell }) => {
    if (!dies) return;
    tell();
    execFileSync('sleep', ['30']);
  },
  'an expression': ({ dies, tell }) => {
    if (!dies) return;
    tell();
    /^(?:a+)+$/.test(`${'a'.repeat(40)}b`);
  },
  exit: ({ dies, tell }) =>
    dies &&
    setTimeout(() => {
      tell();
      process.exit(1);
    }, 5),
  'its own SIGTERM': async ({ dies, tell }) => {
    await pause(5);
    if (!dies) return;
    tell();
    process.kill(process.pid, 'SIGTERM');
  },
};
/** Run in the context of whoever calls, which is another than whose work it is. */
export const sharedFillings = ['a batch of all, run by the last', 'a listener of another'];
