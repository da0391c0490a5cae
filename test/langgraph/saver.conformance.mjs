// What LangGraph's authors hold every checkpointer to, run over ours. Started by conformance.test.ts, which counts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { AgentdumpSaver } from '../../dist/langgraph/index.js';

const initializer = {
  checkpointerName: 'agentdump/langgraph',
  createCheckpointer: () => new AgentdumpSaver({ dir: mkdtempSync(join(tmpdir(), 'agentdump-saver-')) }),
  destroyCheckpointer: (saver) => {
    saver.close();
    rmSync(saver.dir, { recursive: true, force: true });
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
