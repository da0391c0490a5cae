/** Client libraries, each in a real agent: everything that the model saw, said and counted is recorded, on four Nodes. */
import { before, test } from 'node:test';
import { assertSameAsOracle } from '../support/agent-oracle.ts';
import { buildPreload, nodeMajors } from '../support/agent-preload.ts';
import { modesOn, runAgent, whyNoAgents } from '../support/real-agents.ts';

let preload: string;
before(async () => {
  preload = await buildPreload();
});

/** Majors that say they need Node 22 run on 20 as well. */
const agents: [program: string, ...args: string[]][] = [
  ['openai-chat'],
  ['openai-chat', 'openai-6'],
  ['openai-chat', 'openai-4'],
  ['openai-responses'],
  ['openai-responses', 'openai-6'],
  ['anthropic'],
  ['anthropic-runner'],
  ['axios'],
  ['undici'],
];

for (const major of nodeMajors)
  test(`client libraries on Node ${major}`, { skip: whyNoAgents(major) }, async () => {
    for (const [index, [program, ...args]] of agents.entries())
      await Promise.all(
        modesOn(major, index).map(async (mode) => {
          const { ran, calls } = await runAgent(program, [mode, ...args], major, preload);
          assertSameAsOracle(ran, calls, `${program} ${args} ${mode}`);
        }),
      );
  });
