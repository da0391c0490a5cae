/**
 * Real agents killed by SIGKILL at a random instant after an event of their conversation: what the model received, replied
 * and counted until then is in the written data, and nothing else is. By default each agent is killed after one event, on a
 * Node that differs between agents; AGENTDUMP_TEST_KILLS=every kills every agent after every event on every Node, some 1,500
 * times (without run-tests.mjs, which limits a test to ten minutes).
 */
import { before, test } from 'node:test';
import { buildPreload, type NodeMajor, nodeMajors } from '../../support/agents/agent-preload.ts';
import { assertAsFarAsItWent, killAfterEvent } from '../../support/agents/killed-agent.ts';
import { clients, frameworks, modes, runsOn, whyNoAgents } from '../../support/agents/real-agents.ts';

const isEvery = process.env['AGENTDUMP_TEST_KILLS'] === 'every';
/** The shortest conversation without streaming has two events: its requests. */
const fewestEvents = { whole: 2, stream: 10 };

let preload: string;
before(async () => {
  preload = await buildPreload();
});

interface Kills {
  all: number;
  settled: number;
}

/** Kills after one random event, or after each event in turn. */
async function kill(
  agent: readonly string[],
  mode: (typeof modes)[number],
  major: NodeMajor,
  kills: Kills,
): Promise<void> {
  const killOnce = async (event: number) => {
    const run = await killAfterEvent(agent, mode, major, preload, event);
    if (run.afterMs === undefined) return false;
    const at = `event ${event} + ${run.afterMs.toFixed(0)} ms`;
    assertAsFarAsItWent(run, `${agent.join(' ')} ${mode} on Node ${major}, ${at}`);
    kills.all++;
    if (run.isSettled) kills.settled++;
    return true;
  };
  if (!isEvery) await killOnce(1 + Math.floor(Math.random() * fewestEvents[mode]));
  else for (let event = 1; await killOnce(event); event++);
}

for (const [index, major] of nodeMajors.entries())
  test(`killed on Node ${major}`, { skip: whyNoAgents(major) }, async (t) => {
    const kills = { all: 0, settled: 0 };
    const agents = [...clients, ...frameworks].filter(([program]) => runsOn(major, program));
    for (const [n, agent] of agents.entries())
      if (isEvery || n % nodeMajors.length === index)
        await Promise.all(modes.map((mode) => kill(agent, mode, major, kills)));
    t.diagnostic(
      `${kills.all} kills: nothing else than the oracle has; in the ${kills.settled} after which all had been read, nothing less`,
    );
  });
