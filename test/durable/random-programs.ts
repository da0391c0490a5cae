/**
 * Random durable programs: branches, races, loops, queues, nested runs, tries, questions, pauses. A program is a tree that
 * this file runs through the public API. Each call knows what it is (its truth: place in the tree, turn of the loop, who won
 * the races before it), and its recorded value says what it was: where the two differ, a result went astray.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../src/durable/api.ts';

export type Tree =
  | { kind: 'step'; name: string; ms: number }
  | { kind: 'tool'; name: string; ms: number }
  | { kind: 'failing'; name: string; ms: number }
  | { kind: 'retried'; name: string; failures: number }
  | { kind: 'approval'; name: string }
  | { kind: 'pause'; ms: number }
  /** A tool call, a pause, and a step that nothing tells apart but that it stands behind that call. */
  | { kind: 'paused'; name: string; ms: number }
  | { kind: 'seq' | 'all' | 'race' | 'any' | 'chained'; parts: Tree[] }
  | { kind: 'loop'; turns: number; body: Tree }
  | { kind: 'queue'; workers: number; items: number; ms: number; named: boolean }
  | { kind: 'run'; name: string; body: Tree };

export interface Shape {
  /** Pauses outside of steps, after which time alone has decided who comes first. */
  raw: boolean;
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
    // What is told apart by time alone needs an input: a tool has its arguments.
    if (shape.raw) {
      if (leaf < 0.3) return { kind: 'pause', ms };
      if (leaf < 0.42) return { kind: 'approval', name: 'pay' };
      if (leaf < 0.7) return { kind: 'paused', name, ms };
      return { kind: 'tool', name, ms };
    }
    if (leaf < 0.55) return { kind: 'step', name, ms };
    if (leaf < 0.7) return { kind: 'tool', name, ms };
    if (leaf < 0.8) return { kind: 'failing', name, ms };
    if (leaf < 0.88) return { kind: 'retried', name, failures: 1 + Math.floor(random() * 2) };
    return { kind: 'approval', name: 'pay' };
  }
  if (roll < 0.6) return { kind: 'seq', parts: several(1, 3) };
  if (roll < 0.75) return { kind: 'all', parts: several(2, 4) };
  // Who wins a race of pauses is known to no record.
  if (roll < 0.86 && !shape.raw) return { kind: roll < 0.82 ? 'race' : 'any', parts: several(2, 3) };
  if (roll < 0.89) return { kind: 'chained', parts: several(2, 3) };
  if (roll < 0.94) return { kind: 'loop', turns: 2, body: below() };
  if (roll < 0.97)
    return { kind: 'queue', workers: 2, items: 4, ms: ms + 1, named: shape.raw || random() < 0.5 };
  // A nested run has no input of its own.
  return shape.raw ? { kind: 'seq', parts: several(1, 2) } : { kind: 'run', name: 'sub', body: below() };
}

export interface World {
  random: Random;
  /** What really began, by truth. */
  effects: Map<string, number>;
  astray: string[];
  /** What a person says to a request. */
  wouldApprove: (truth: string) => boolean;
}

/** Runs the tree; `at` is where in it, `past` what the program has seen on its way that may differ from life to life. */
export async function runTree(tree: Tree, world: World, at: string, past: string): Promise<string> {
  const truth = `${at} ${past}`;
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
            begin();
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
    // Promises that go on by `then`, all set up in one turn.
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

/** What a part has told that depends on time. */
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
