/** Frameworks, each in a real agent: everything that the model saw, said and counted is recorded, on four Nodes. */
import { before, test } from 'node:test';
import { assertSameAsOracle } from '../support/agent-oracle.ts';
import { buildPreload, nodeMajors } from '../support/agent-preload.ts';
import { modesOn, runAgent, whyNoAgents } from '../support/real-agents.ts';

let preload: string;
before(async () => {
  preload = await buildPreload();
});

const agents: [program: string, ...args: string[]][] = [
  ['ai-sdk', '7'],
  ['ai-sdk', '7', 'chat'],
  ['ai-sdk', '6'],
  ['langgraph'],
  ['openai-agents'],
  ['mastra'],
];
/** Does not start on Node 20. */
const needsNode22 = 'mastra';

for (const major of nodeMajors)
  test(`frameworks on Node ${major}`, { skip: whyNoAgents(major) }, async () => {
    for (const [index, [program, ...args]] of agents.entries()) {
      if (major < 22 && program === needsNode22) continue;
      await Promise.all(
        modesOn(major, index).map(async (mode) => {
          const { ran, calls } = await runAgent(program, [mode, ...args], major, preload);
          assertSameAsOracle(ran, calls, `${program} ${args} ${mode}`);
        }),
      );
    }
  });
