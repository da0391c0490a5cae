/** Makes random programs die repeatedly, and reports what went wrong. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { cancelRun, enqueueRun, sendSignal } from '../../../src/durable/dispatch/act-on-run.ts';
import { answerApproval, summarizeRun } from '../../../src/durable/inspect.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';
import type { AgentdumpError } from '../../../src/errors.ts';
import { SeededRandom } from '../../support/synth/seeded-random.ts';
import { crashingStore, isCrash } from './crashing-store.ts';
import { MortalWorkers } from './mortal-workers.ts';
import {
  randomTree,
  runChild,
  runTree,
  type Shape,
  type Tree,
  trialQueues,
  type World,
} from './random-programs.ts';

const mostLives = 20;
const atOnce = 8;

export interface Trial {
  programs: number;
  firstSeed: number;
  shape: Shape;
  folder: string;
}

export interface TrialOutcome {
  lives: number;
  /** One line per program with a fault. */
  faults: string[];
}

export async function runTrial({ programs, firstSeed, shape, folder }: Trial): Promise<TrialOutcome> {
  const outcome: TrialOutcome = { lives: 0, faults: [] };
  let seed = firstSeed;
  const work = async () => {
    while (seed < firstSeed + programs) {
      const mine = seed++;
      const { lives, problems } = await liveThrough(mine, shape, folder);
      outcome.lives += lives;
      if (problems.length > 0) outcome.faults.push(`seed ${mine}: ${problems.slice(0, 3).join('; ')}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcome;
}

/** Counts records, because a look at a run reads all of them. */
class CountingStore extends FileStore {
  records = 0;

  override open(...given: Parameters<FileStore['open']>): ReturnType<FileStore['open']> {
    const handle = super.open(...given);
    const append = handle.append.bind(handle);
    handle.append = (...record) => {
      this.records++;
      return append(...record);
    };
    return handle;
  }
}

interface Ending {
  lives: number;
  problems: string[];
}

async function liveThrough(seed: number, shape: Shape, folder: string): Promise<Ending> {
  const drawn = new SeededRandom(seed);
  const random = () => drawn.next();
  const tree = randomTree(random, shape);
  const place = join(folder, `${seed}`);
  const store = new CountingStore(place);
  const said: string[] = [];
  const world: World = {
    agent,
    random: Math.random,
    life: 0,
    mail: new Set(),
    naps: new Map(),
    tries: new Map(),
    done: new Map(),
    effects: new Map(),
    children: new Map(),
    inQueue: new Map(),
    astray: [],
    wouldApprove: (truth) => truth.length % 3 > 0,
  };
  const cancelAtLook = shape.full && seed % 6 === 0 ? Math.floor(random() * 60) : undefined;
  const person = startPerson(store, world, cancelAtLook);
  const problems: string[] = [];
  let lives = 0;
  let workers: MortalWorkers | undefined;
  // In a quarter of the full programs a worker performs the program too, and puts it to rest while it waits.
  const isWorked = shape.full === true && seed % 4 === 0;
  try {
    if (shape.full) workers = startWorkers(store, tree, { world, said, random, isWorked });
    if (workers && isWorked) {
      await enqueueRun(store, 'program', { id: 'r' });
      const { state } = await endOfRun(store);
      if (state !== 'finished' && state !== 'cancelled') problems.push(`its state is ${state}`);
      lives = workers.lives;
    } else
      for (let isThrough = false; !isThrough; lives++) {
        const dies = lives < mostLives;
        const at = 1 + Math.floor(random() * (3 + lives * 3));
        const mortal = dies
          ? crashingStore(store, at, random() < 0.5 ? 'before' : 'after', seed % 3 === 0)
          : store;
        Object.assign(world, { life: lives, mail: new Set() });
        isThrough = await live(mortal, tree, world, said).catch((error) => {
          problems.push(`life ${lives}: ${(error as Error).message}`);
          return true;
        });
      }
  } finally {
    await person.stop();
    await workers?.stop();
  }
  if (person.hasCancelled()) problems.push(...(await livesOn(store, tree, world)));
  const doubts = said.filter((line) => line.includes('is in doubt')).length;
  const repeated = [...world.effects].reduce((sum, [, times]) => sum + times - 1, 0);
  const tries = JSON.stringify(tree).includes('"tried"');
  if (!tries && repeated > doubts) problems.push(`${repeated} effects again, ${doubts} named`);
  problems.push(...world.astray);
  if (problems.length === 0) rmSync(place, { recursive: true, force: true });
  return { lives, problems };
}

interface TrialLife {
  world: World;
  said: string[];
  random: () => number;
  isWorked: boolean;
}

/** For the child runs, and if `isWorked` for the program itself. */
function startWorkers(store: FileStore, tree: Tree, { world, said, random, isWorked }: TrialLife) {
  return new MortalWorkers({
    store,
    random,
    deaths: mostLives,
    most: 8,
    queues: trialQueues,
    programs: {
      child: ({ id, input }) => runChild(world, id, input),
      ...(isWorked && { program: () => runTree(tree, nextLife(world), '', '') }),
    },
    options: { notify: (line) => said.push(line), maxResumes: 100 },
  });
}

/** A program that was put to rest begins anew. */
const nextLife = (world: World) => Object.assign(world, { life: world.life + 1, mail: new Set() });

async function endOfRun(store: FileStore) {
  for (;;) {
    const summary = await summarizeRun(store, 'r');
    if (!['queued', 'running', 'waiting', 'interrupted'].includes(summary.state)) return summary;
    await sleep(5);
  }
}

/** True if the program came to its end. */
async function live(
  store: FileStore | ReturnType<typeof crashingStore>,
  tree: Tree,
  world: World,
  said: string[],
): Promise<boolean> {
  try {
    const options = { id: 'r', durable: true, store, notify: (line: string) => said.push(line) } as const;
    await agent.run('program', { ...options, maxResumes: 100 }, () => runTree(tree, world, '', ''));
    return true;
  } catch (error) {
    const { message } = error as AgentdumpError;
    if (isCancelled(error)) return true;
    if (!isCrash(error) && !/All promises were rejected/.test(message)) throw error;
    return false;
  }
}

const isCancelled = (error: unknown) => /^run r was cancelled/.test((error as Error).message);

/** Describes what a cancelled run still does; it should do nothing. */
async function livesOn(store: FileStore, tree: Tree, world: World): Promise<string[]> {
  const { state } = await summarizeRun(store, 'r');
  // It was cancelled, but finished before it noticed.
  if (state === 'finished') return [];
  if (state !== 'cancelled') return [`it was cancelled and is ${state}`];
  const before = world.effects.size;
  const again = agent.run('program', { id: 'r', durable: true, store }, () => runTree(tree, world, '', ''));
  const outcome = await again.then(
    () => 'has a result',
    (error) => (isCancelled(error) ? undefined : (error as Error).message),
  );
  if (world.effects.size !== before) return ['it was cancelled and begins steps'];
  return outcome === undefined ? [] : [`it was cancelled and ${outcome}`];
}

/** Answers each request by its content, sends the signals that are waited for, and cancels. */
function startPerson(store: CountingStore, { wouldApprove }: World, cancelAtLook: number | undefined) {
  let isStopped = false;
  let isCancelled = false;
  const sent = new Set<string>();
  let letters = 0;
  let seen = -1;
  const send = async (name: string) => {
    if (name !== 'mail' && sent.has(name)) return;
    sent.add(name);
    const value = name === 'mail' ? ++letters : name;
    await sendSignal(store, 'r', name, { value }).catch(() => {});
  };
  const atWork = (async () => {
    for (let look = 0; !isStopped; look++) {
      await sleep(3);
      if (look === cancelAtLook)
        isCancelled = await cancelRun(store, 'r').then(
          () => true,
          () => false,
        );
      // Now and then also if there is nothing new: a question may have been answered, or a run taken from its queue.
      if (store.records === seen && look % 10 > 0) continue;
      seen = store.records;
      const { waitingFor } = await summarizeRun(store, 'r').catch(() => ({ waitingFor: [] }));
      for (const { id, path, answered, request, signal, run, until } of waitingFor) {
        if (answered) continue;
        if (signal !== undefined) await send(signal);
        if (signal !== undefined || run !== undefined || until !== undefined) continue;
        const { truth } = request as { truth: string };
        await answerApproval(store, 'r', id ?? path, { approved: wouldApprove(truth) }).catch(() => {});
      }
    }
  })();
  return {
    hasCancelled: () => isCancelled,
    stop: () => {
      isStopped = true;
      return atWork;
    },
  };
}
