/**
 * Real agents killed by SIGKILL at a random instant after each event of their conversation: what the model saw, said and
 * counted until then is in what was written, and nothing else is. By default one event each, on a Node that differs from
 * agent to agent; AGENTDUMP_TEST_KILLS=every kills every agent after every event on every Node, some 1,300 times.
 */
import { before, test } from 'node:test';
import { buildPreload, type NodeMajor, nodeMajors } from '../support/agent-preload.ts';
import { assertAsFarAsItWent, killAfterEvent } from '../support/killed-agent.ts';
import { clients, frameworks, modes, runsOn, whyNoAgents } from '../support/real-agents.ts';

const isEvery = process.env['AGENTDUMP_TEST_KILLS'] === 'every';
/** The shortest conversation, whole, has two events: its requests. */
const fewestEvents = { whole: 2, stream: 10 };

let preload: string;
before(async () => {
  preload = await buildPreload();
});

/** Kills after one random event, or after each of them in turn; returns how often. */
async function kill(agent: readonly string[], mode: (typeof modes)[number], major: NodeMajor) {
  const killOnce = async (event: number) => {
    const run = await killAfterEvent(agent, mode, major, preload, event);
    if (run.afterMs === undefined) return false;
    const at = `event ${event} + ${run.afterMs.toFixed(0)} ms`;
    assertAsFarAsItWent(run, `${agent.join(' ')} ${mode} on Node ${major}, ${at}`);
    return true;
  };
  if (!isEvery) {
    await killOnce(1 + Math.floor(Math.random() * fewestEvents[mode]));
    return 1;
  }
  let kills = 0;
  while (await killOnce(kills + 1)) kills++;
  return kills;
}

for (const [index, major] of nodeMajors.entries())
  test(`killed on Node ${major}`, { skip: whyNoAgents(major) }, async (t) => {
    let kills = 0;
    const agents = [...clients, ...frameworks].filter(([program]) => runsOn(major, program));
    for (const [n, agent] of agents.entries())
      if (isEvery || n % nodeMajors.length === index)
        for (const count of await Promise.all(modes.map((mode) => kill(agent, mode, major)))) kills += count;
    t.diagnostic(`${kills} kills; conversation, results and tokens as the oracle has them each time`);
  });
