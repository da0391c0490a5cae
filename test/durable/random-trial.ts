/** Lets random programs die again and again, and says what went wrong with them. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { durableAgent as agent } from '../../src/durable/api.ts';
import { answerApproval, summarizeRun } from '../../src/durable/inspect.ts';
import { FileStore } from '../../src/durable/stores/file-store.ts';
import type { AgentdumpError } from '../../src/errors.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { crashingStore } from './crashing-store.ts';
import { randomTree, runTree, type World } from './random-programs.ts';

const mostLives = 20;
const atOnce = 8;

export interface Trial {
  programs: number;
  firstSeed: number;
  /** With pauses between their steps. */
  raw: boolean;
  folder: string;
}

export interface TrialOutcome {
  lives: number;
  /** A line for each program with a fault. */
  faults: string[];
}

export async function runTrial({ programs, firstSeed, raw, folder }: Trial): Promise<TrialOutcome> {
  const outcome: TrialOutcome = { lives: 0, faults: [] };
  let seed = firstSeed;
  const work = async () => {
    while (seed < firstSeed + programs) {
      const mine = seed++;
      const { lives, problems } = await liveThrough(mine, raw, folder);
      outcome.lives += lives;
      if (problems.length > 0) outcome.faults.push(`seed ${mine}: ${problems.slice(0, 3).join('; ')}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcome;
}

interface Ending {
  lives: number;
  problems: string[];
}

async function liveThrough(seed: number, raw: boolean, folder: string): Promise<Ending> {
  const drawn = new SeededRandom(seed);
  const random = () => drawn.next();
  const tree = randomTree(random, { raw });
  const store = new FileStore(join(folder, `${seed}-${raw}`));
  const said: string[] = [];
  const world: World = {
    random: Math.random,
    effects: new Map(),
    astray: [],
    wouldApprove: (truth) => truth.length % 3 > 0,
  };
  const person = startPerson(store, world);
  const problems: string[] = [];
  let lives = 0;
  try {
    for (let isThrough = false; !isThrough; lives++) {
      const dies = lives < mostLives;
      const at = 1 + Math.floor(random() * (3 + lives * 3));
      const mortal = dies
        ? crashingStore(store, at, random() < 0.5 ? 'before' : 'after', seed % 3 === 0)
        : store;
      isThrough = await live(mortal, tree, world, said).catch((error) => {
        problems.push(`life ${lives}: ${(error as Error).message}`);
        return true;
      });
    }
  } finally {
    await person.stop();
  }
  const doubts = said.filter((line) => line.includes('is in doubt')).length;
  const repeated = [...world.effects].reduce((sum, [, times]) => sum + times - 1, 0);
  const tries = JSON.stringify(tree).includes('retried');
  if (!tries && repeated > doubts) problems.push(`${repeated} effects again, ${doubts} named`);
  problems.push(...world.astray);
  return { lives, problems };
}

/** Whether it came to its end. */
async function live(
  store: FileStore | ReturnType<typeof crashingStore>,
  tree: Parameters<typeof runTree>[0],
  world: World,
  said: string[],
): Promise<boolean> {
  try {
    const options = { id: 'r', durable: true, store, notify: (line: string) => said.push(line) } as const;
    await agent.run('program', { ...options, maxResumes: 100 }, () => runTree(tree, world, '', ''));
    return true;
  } catch (error) {
    const { message } = error as AgentdumpError;
    if (message !== 'the process died here' && !/All promises were rejected/.test(message)) throw error;
    return false;
  }
}

/** Answers what is asked, by the request that it is shown. */
function startPerson(store: FileStore, { wouldApprove }: World) {
  let isStopped = false;
  const atWork = (async () => {
    while (!isStopped) {
      await sleep(3);
      const { waitingFor } = await summarizeRun(store, 'r').catch(() => ({ waitingFor: [] }));
      for (const { id, path, answered, request } of waitingFor) {
        if (answered) continue;
        const { truth } = request as { truth: string };
        await answerApproval(store, 'r', id ?? path, { approved: wouldApprove(truth) }).catch(() => {});
      }
    }
  })();
  return {
    stop: () => {
      isStopped = true;
      return atWork;
    },
  };
}
