/**
 * Random durable programs: branches, races, loops, queues, nested runs, tries, questions, pauses; `full` ones also have
 * signals, sleeps, time limits, tries of several steps, child runs, with and without a queue, steps that are refused or called
 * off, and effects about which the outside world can be asked. A program is a tree that this file runs through the public API.
 * Each call knows its truth (place in the tree, turn of the loop, who won
 * the races before it), and returns it as its recorded value: if the two differ, a result was returned to the wrong call.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DurableAgent } from '../../../src/durable/api.ts';

export type Tree =
  | { kind: 'step'; name: string; ms: number }
  | { kind: 'tool'; name: string; ms: number }
  | { kind: 'failing'; name: string; ms: number }
  | { kind: 'retried'; name: string; failures: number }
  | { kind: 'approval'; name: string }
  | { kind: 'pause'; ms: number }
  /** A tool call, a pause, and a step whose only identification is that it follows that call. */
  | { kind: 'paused'; name: string; ms: number }
  /** A loop over a function that pauses before its step: only their order distinguishes the steps. */
  | { kind: 'helped'; name: string; turns: number; ms: number }
  /** A pause, and a step that nothing but what its function captures distinguishes; much of that changes from life to life. */
  | { kind: 'bare'; name: string; ms: number }
  /** Several jobs at a time, each with a step between pauses; whoever has ended takes the next. */
  | { kind: 'pool'; workers: number; items: number; ms: number }
  | { kind: 'seq' | 'all' | 'race' | 'any' | 'chained'; parts: Tree[] }
  | { kind: 'loop'; turns: number; body: Tree }
  | { kind: 'queue'; workers: number; items: number; ms: number; named: boolean }
  | { kind: 'run'; name: string; body: Tree }
  | { kind: 'sleep'; ms: number }
  /** Waits for a signal with its own name (`signal`), or with one that other calls wait for too (`mail`). */
  | { kind: 'signal'; timeoutMs: number }
  | { kind: 'mail' }
  /** Its time limit may expire before it ends. */
  | { kind: 'timed'; name: string; ms: number }
  /** `early`: refused before it begins, because its result could not be stored; otherwise because it can't be. */
  | { kind: 'refused'; name: string; early: boolean }
  /** The program may call it off before it ends. */
  | { kind: 'calledOff'; name: string; ms: number }
  /** The outside world knows whether it took place. */
  | { kind: 'asked'; name: string; ms: number }
  /** A run of its own, by the trial's workers; `queued`: in a queue with limits, in total and per key. */
  | { kind: 'child'; queued: boolean; ms: number }
  /** A step of several steps, which fails at first and is tried again. */
  | { kind: 'tried'; body: Tree };

export interface Shape {
  /** Has pauses outside of steps, so that only time decides the order of what follows. */
  raw?: boolean;
  full?: boolean;
}

type Random = () => number;

const names = ['work', 'fetch', 'plan'];

export function randomTree(random: Random, shape: Shape, depth = 0): Tree {
  const below = () => randomTree(random, shape, depth + 1);
  const several = (least: number, most: number) =>
    Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, below);
  const name = names[Math.floor(random() * names.length)]!;
  const ms = random() < 0.3 ? 0 : Math.floor(random() * 8);
  const roll = random();
  if (depth >= 4 || (depth > 1 && roll < 0.45)) {
    const leaf = random();
    // Calls that only differ in time need an input; tools have their arguments.
    if (shape.raw) {
      if (leaf < 0.3) return { kind: 'pause', ms };
      if (leaf < 0.42) return { kind: 'approval', name: 'pay' };
      if (leaf < 0.65) return { kind: 'paused', name, ms };
      if (leaf < 0.7) return { kind: 'helped', name, turns: 2, ms };
      if (leaf < 0.78) return { kind: 'bare', name, ms: ms + 1 };
      if (leaf < 0.86) return { kind: 'pool', workers: 2 + Math.floor(random() * 2), items: 4, ms: ms + 1 };
      return { kind: 'tool', name, ms };
    }
    if (shape.full && random() < 0.5) return fullLeaf(random, name, ms);
    if (leaf < 0.55) return { kind: 'step', name, ms };
    if (leaf < 0.7) return { kind: 'tool', name, ms };
    if (leaf < 0.8) return { kind: 'failing', name, ms };
    if (leaf < 0.88) return { kind: 'retried', name, failures: 1 + Math.floor(random() * 2) };
    return { kind: 'approval', name: 'pay' };
  }
  if (shape.full && random() < 0.1) return { kind: 'tried', body: below() };
  if (roll < 0.6) return { kind: 'seq', parts: several(1, 3) };
  if (roll < 0.75) return { kind: 'all', parts: several(2, 4) };
  // The winner of a race of pauses is not in any record.
  if (roll < 0.86 && !shape.raw) return { kind: roll < 0.82 ? 'race' : 'any', parts: several(2, 3) };
  if (roll < 0.89) return { kind: 'chained', parts: several(2, 3) };
  if (roll < 0.94) return { kind: 'loop', turns: 2, body: below() };
  if (roll < 0.97)
    return { kind: 'queue', workers: 2, items: 4, ms: ms + 1, named: shape.raw || random() < 0.5 };
  // A nested run has no input of its own.
  return shape.raw ? { kind: 'seq', parts: several(1, 2) } : { kind: 'run', name: 'sub', body: below() };
}

function fullLeaf(random: Random, name: string, ms: number): Tree {
  const leaf = random();
  if (random() < 0.2) return { kind: 'child', queued: random() < 0.5, ms };
  if (random() < 0.1) return { kind: 'refused', name, early: random() < 0.5 };
  if (random() < 0.1) return { kind: 'calledOff', name, ms: ms + 1 };
  if (leaf < 0.2) return { kind: 'sleep', ms };
  if (leaf < 0.4) return { kind: 'signal', timeoutMs: random() < 0.5 ? Number.POSITIVE_INFINITY : ms * 3 };
  if (leaf < 0.55) return { kind: 'mail' };
  if (leaf < 0.75) return { kind: 'timed', name, ms: ms + 1 };
  return { kind: 'asked', name, ms };
}

/** What a program calls. Another engine may stand in for what it has (peers/). */
export type ProgramCalls = Pick<
  DurableAgent,
  'step' | 'tool' | 'run' | 'sleep' | 'waitForApproval' | 'waitForSignal' | 'childRun'
>;

export interface World {
  agent: ProgramCalls;
  random: Random;
  /** Number of the current life. What an earlier life still does in this process does not count. */
  life: number;
  /** Values received in this life by the signal name that many calls wait for. */
  mail: Set<unknown>;
  /** When each sleep was first reached, by truth. */
  naps: Map<string, number>;
  tries: Map<string, number>;
  /** Truths of the performed effects, by their key. */
  done: Map<string, string>;
  /** How often each step really began, by truth. */
  effects: Map<string, number>;
  /** Children by the truth of the call that started them. */
  children: Map<string, Set<string>>;
  /** Runs of the queue that are at work, with their keys. */
  inQueue: Map<string, string>;
  astray: string[];
  /** The answer of a person to the request with this truth. */
  wouldApprove: (truth: string) => boolean;
}

/** Runs the tree; `at` is the place in it, `past` what the program has seen on its way that may differ between lives. */
export async function runTree(tree: Tree, world: World, at: string, past: string): Promise<string> {
  const truth = `${at} ${past}`;
  const { agent } = world;
  const check = (value: unknown) => {
    const told = (value as { truth: string }).truth;
    if (told !== truth) world.astray.push(`${truth} got ${told}`);
    return `${at}=${told === truth ? 'ok' : 'astray'}`;
  };
  const begin = () => world.effects.set(truth, (world.effects.get(truth) ?? 0) + 1);
  switch (tree.kind) {
    case 'step':
      return check(
        await agent.step(tree.name, async () => {
          begin();
          await wait(tree.ms, world);
          return { truth };
        }),
      );
    case 'tool':
      return check(
        await agent.tool(tree.name, { truth }, async () => {
          begin();
          await wait(tree.ms, world);
          return { truth };
        }),
      );
    case 'failing':
      try {
        await agent.step(tree.name, async () => {
          begin();
          await wait(tree.ms, world);
          throw Object.assign(new Error('as it should'), { truth });
        });
        return 'no error';
      } catch (error) {
        if ((error as Error).message !== 'as it should') throw error;
        return check(error);
      }
    case 'retried':
      return check(
        await agent.step(
          tree.name,
          async ({ attempt }) => {
            if (attempt <= tree.failures) throw new Error('once more');
            return { truth };
          },
          { retry: { attempts: 10, delayMs: 1 } },
        ),
      );
    case 'approval': {
      const { approved } = await agent.waitForApproval(tree.name, { truth });
      if (approved !== world.wouldApprove(truth)) world.astray.push(`${truth} got the answer ${approved}`);
      return `${at}=${approved}`;
    }
    case 'pause':
      await wait(tree.ms, world);
      return at;
    case 'paused':
      await agent.tool(tree.name, { truth }, () => null);
      await wait(tree.ms, world);
      return runTree({ ...tree, kind: 'step' }, world, at, past);
    case 'bare':
      await wait(tree.ms, world);
      return runTree({ ...tree, kind: 'step' }, world, at, past);
    case 'pool':
      return runPool(tree, world, at, past);
    case 'helped': {
      await agent.tool(tree.name, { truth }, () => null);
      const parts: string[] = [];
      const helper = async (turn: number) => {
        await wait(tree.ms, world);
        return runTree({ ...tree, kind: 'step', ms: 0 }, world, `${at}[${turn}]`, past);
      };
      for (let turn = 0; turn < tree.turns; turn++) parts.push(await helper(turn));
      return parts.join(' ');
    }
    case 'sleep':
      return nap(tree.ms, world, truth);
    case 'signal': {
      const name = `news ${at}`;
      const got = await agent.waitForSignal(name, { timeoutMs: tree.timeoutMs });
      if (got && got.value !== name) world.astray.push(`${truth} got the signal ${got.value}`);
      return `${at}=${got ? 'ok' : 'none'}`;
    }
    case 'mail': {
      const { life, mail } = world;
      const got = await agent.waitForSignal('mail');
      // What a given-up try has received is received again, by its next try or by another call.
      if (at.includes('.tried')) return at;
      if (life === world.life && mail.has(got?.value))
        world.astray.push(`${truth} got mail ${got?.value} again`);
      mail.add(got?.value);
      return at;
    }
    case 'timed':
      try {
        const work = async () => {
          begin();
          await wait(tree.ms, world);
          return { truth };
        };
        return check(await agent.step(tree.name, work, { timeoutMs: tree.ms }));
      } catch (error) {
        if ((error as Error).name !== 'TimeoutError') throw error;
        return `${at}=late`;
      }
    case 'refused':
      try {
        const work = () => {
          begin();
          return tree.early ? new Unregistered() : work;
        };
        await agent.step(tree.name, work, tree.early ? { returns: Unregistered } : {});
        return `${at}=stored`;
      } catch (error) {
        if ((error as { code?: string }).code !== 'usage') throw error;
        if (tree.early && world.effects.has(truth)) world.astray.push(`${truth} began and was refused`);
        return `${at}=refused`;
      }
    case 'calledOff':
      try {
        return check(await actCalledOff(tree, world, truth, begin));
      } catch (error) {
        if (!(error instanceof CalledOff)) throw error;
        return `${at}=off`;
      }
    case 'child':
      return check(await agent.childRun('child', childWish(tree, truth)));
    case 'asked':
      return check(await actAsked(tree, world, truth, begin));
    case 'tried':
      return agent.step(
        'tried',
        async () => {
          // The number is recorded, so that a life that continues a try fails in the same place.
          const nth = await agent.step('count', () => {
            const next = (world.tries.get(truth) ?? 0) + 1;
            world.tries.set(truth, next);
            return next;
          });
          const told = await runTree(tree.body, world, `${at}.tried`, past);
          if (nth === 1) throw new Error('once more');
          return told;
        },
        { retry: { attempts: 30, delayMs: 1 } },
      );
    case 'seq': {
      const parts: string[] = [];
      for (const [index, part] of tree.parts.entries())
        parts.push(await runTree(part, world, `${at}.${index}`, `${past}${winners(parts)}`));
      return parts.join(' ');
    }
    case 'all':
      return (
        await Promise.all(tree.parts.map((part, index) => runTree(part, world, `${at}.${index}`, past)))
      ).join(' ');
    case 'race':
    case 'any': {
      const racers = tree.parts.map(async (part, index) => {
        await runTree(part, world, `${at}.${index}`, past);
        return `won:${at}.${index}`;
      });
      return tree.kind === 'race' ? Promise.race(racers) : Promise.any(racers);
    }
    // Promises continued with `then`, all created in one turn.
    case 'chained':
      return (
        await Promise.all(
          tree.parts.map((part, index) => {
            const first = agent.tool('first', { at: `${at}.${index}`, past }, () => ({ index }));
            return Promise.resolve(first).then(() => runTree(part, world, `${at}.${index}`, past));
          }),
        )
      ).join(' ');
    case 'loop': {
      const parts: string[] = [];
      for (let turn = 0; turn < tree.turns; turn++)
        parts.push(await runTree(tree.body, world, `${at}[${turn}]`, `${past}${winners(parts)}`));
      return parts.join(' ');
    }
    case 'queue':
      return runQueue(tree, world, at, past);
    case 'run':
      return agent.run(tree.name, async () =>
        runTree(tree.body, world, `${at}.run`, past),
      ) as Promise<string>;
  }
}

export const trialQueues = { narrow: { concurrency: 2, perKey: { concurrency: 1 } } };

interface ChildInput {
  truth: string;
  ms: number;
  key?: string;
}

function childWish({ queued, ms }: Extract<Tree, { kind: 'child' }>, truth: string) {
  const key = `k${truth.length % 2}`;
  const input: ChildInput = { truth, ms, ...(queued && { key }) };
  return { input, ...(queued && { queue: 'narrow', queueKey: key, priority: truth.length % 3 }) };
}

/** The program of the child runs. Returns the truth of the call that started it. */
export async function runChild(world: World, id: string, input: unknown): Promise<{ truth: string }> {
  const { truth, ms, key } = input as ChildInput;
  const siblings = world.children.get(truth) ?? new Set();
  world.children.set(truth, siblings.add(id));
  if (siblings.size > 1 && !truth.includes('.tried')) world.astray.push(`${truth} started ${[...siblings]}`);
  const { agent } = world;
  if (key !== undefined) enterQueue(world, id, key);
  try {
    await agent.step('one', async () => {
      const effect = `${truth} by ${id}`;
      world.effects.set(effect, (world.effects.get(effect) ?? 0) + 1);
      await wait(ms, world);
    });
    await agent.sleep('nap', ms);
    return await agent.step('two', () => ({ truth }));
  } finally {
    world.inQueue.delete(id);
  }
}

function enterQueue({ inQueue, astray }: World, id: string, key: string): void {
  inQueue.set(id, key);
  const { concurrency, perKey } = trialQueues.narrow;
  if (inQueue.size > concurrency) astray.push(`at work: ${[...inQueue.keys()]}`);
  const ofKey = [...inQueue.values()].filter((other) => other === key).length;
  if (ofKey > perKey.concurrency) astray.push(`at work of ${key}: ${[...inQueue.keys()]}`);
}

async function nap(ms: number, world: World, truth: string): Promise<string> {
  const began = world.naps.get(truth) ?? Date.now();
  world.naps.set(truth, began);
  await world.agent.sleep('nap', ms);
  if (Date.now() < began + ms) world.astray.push(`${truth} slept less than ${ms} ms`);
  return 'slept';
}

/** Not registered, so it can't be stored. */
class Unregistered {}

/** Not the error of a run that is cancelled. */
class CalledOff extends Error {}

async function actCalledOff(
  { name, ms }: { name: string; ms: number },
  world: World,
  truth: string,
  begin: () => void,
) {
  const controller = new AbortController();
  const work = async () => {
    begin();
    await wait(ms, world);
    return { truth };
  };
  const done = world.agent.step(name, work, { signal: controller.signal });
  const timer = setTimeout(() => controller.abort(new CalledOff()), ms);
  return done.finally(() => clearTimeout(timer));
}

function actAsked(
  { name, ms }: { name: string; ms: number },
  world: World,
  truth: string,
  begin: () => void,
) {
  const { life } = world;
  return world.agent.tool(
    name,
    { truth },
    async (_, { effect }) => {
      begin();
      await wait(ms, world);
      if (life !== world.life) return undefined;
      // A repeated try of several steps performs them again, under its own keys.
      if (world.done.has(effect.key) && !truth.includes('.tried'))
        world.astray.push(`${truth} took place again`);
      world.done.set(effect.key, truth);
      return { truth };
    },
    {
      inDoubt: ({ key }) => {
        const done = world.done.get(key);
        return done === undefined ? undefined : { result: { truth: done } };
      },
    },
  );
}

async function runQueue(
  { workers, items, ms, named }: Extract<Tree, { kind: 'queue' }>,
  world: World,
  at: string,
  past: string,
): Promise<string> {
  let next = 0;
  const done: string[] = [];
  const work = async () => {
    while (next < items) {
      const item: Tree = { kind: named ? 'tool' : 'step', name: 'item', ms };
      done.push(await runTree(item, world, `${at}#${next++}`, past));
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return done.sort().join(' ');
}

async function runPool(
  { workers, items, ms }: Extract<Tree, { kind: 'pool' }>,
  world: World,
  at: string,
  past: string,
): Promise<string> {
  let next = 0;
  const done: string[] = [];
  const perform = async (truth: string): Promise<string> => {
    world.effects.set(truth, (world.effects.get(truth) ?? 0) + 1);
    await wait(ms, world);
    return truth;
  };
  const work = async () => {
    while (next < items) {
      const truth = `${at}#${next++} ${past}`;
      await wait(ms, world);
      const told = await world.agent.step('item', () => perform(truth));
      if (told !== truth) world.astray.push(`${truth} got ${told}`);
      done.push(truth.replaceAll(' ', '_'));
      await wait(ms, world);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return done.sort().join(' ');
}

/** The results of a part that depend on time. */
function winners(parts: string[]): string {
  return parts
    .join(' ')
    .split(' ')
    .filter((word) => word.startsWith('won:'))
    .join('');
}

const wait = async (ms: number, { random }: World) => {
  if (ms > 0) await sleep(ms * (0.2 + 1.6 * random()));
};
