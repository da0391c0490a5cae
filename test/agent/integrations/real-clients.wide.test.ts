/**
 * Client libraries, each in a real agent: everything that the model received, replied and counted is recorded, on four Nodes.
 */
import { before, test } from 'node:test';
import { assertSameAsOracle } from '../../support/agents/agent-oracle.ts';
import { buildPreload, nodeMajors } from '../../support/agents/agent-preload.ts';
import { clients, modes, runAgent, runsOn, whyNoAgents } from '../../support/agents/real-agents.ts';
import { majorsInTurn } from '../../support/run/test-nodes.ts';

let preload: string;
before(async () => {
  preload = await buildPreload();
});

for (const major of majorsInTurn(...nodeMajors))
  test(`client libraries on Node ${major}`, { skip: whyNoAgents(major) }, async (t) => {
    let same = 0;
    for (const [program, ...args] of clients.filter(([name]) => runsOn(major, name)))
      await Promise.all(
        modes.map(async (mode) => {
          const { ran, calls } = await runAgent(program, [mode, ...args], major, preload);
          assertSameAsOracle(ran, calls, `${program} ${args} ${mode}`);
          same++;
        }),
      );
    t.diagnostic(`${same} of ${same} runs are as the oracle has them`);
  });
