/** `agentdump agent`: what the agent was doing, as one timeline that ends at the death. */
import type { CommandModule } from 'yargs';
import { cutAgentEvents } from '../../analysis/agent/point.ts';
import { readAgentEvents } from '../../analysis/agent/read.ts';
import { computeAgentState } from '../../analysis/agent/timeline.ts';
import { openBundle } from '../../bundle/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import type { AgentState } from '../../model/agent-state.ts';
import { harmlessJson } from '../../report/json.ts';
import {
  type BundleWords,
  bundlePositional,
  dirOption,
  keyOptions,
  keysOf,
  pathOf,
} from '../bundle-options.ts';
import { exitCodes } from '../exit-codes.ts';
import { note, print, stdoutColumns, stdoutWantsColour } from '../output.ts';

interface Words extends BundleWords {
  at?: string | undefined;
  run?: string | undefined;
  whole?: boolean | undefined;
  json?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'agent <bundle>',
  describe: 'What the agent was doing: runs, steps, model and tool calls, conversation',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('at', {
        type: 'string',
        describe: 'At an earlier point: an event number, a time, -30s, or the id of a step or call',
      })
      .option('run', { type: 'string', describe: 'Only the run with this id or name' })
      .option('whole', { type: 'boolean', describe: 'The whole text of every message' })
      .option('json', { type: 'boolean', describe: 'One JSON document' })
      .option('dir', dirOption)
      .options(keyOptions)
      .epilogue('Exit code: 0 complete, 1 with gaps, 2 usage, 3 unreadable or no agent in it.'),
  handler: async (words) => {
    const bundle = openBundle(pathOf(words), await keysOf(words));
    try {
      const { events, gaps } = readAgentEvents(bundle);
      if (!events)
        throw new AgentdumpError('not-found', 'the bundle tells of no agent', { path: bundle.path });
      const cut = words.at === undefined ? events : cutAgentEvents(events, words.at);
      const state = selectRun(computeAgentState(cut), words.run);
      print(await render(state, words));
      for (const gap of gaps) note(`${gap.part}: ${gap.reason}`);
      process.exitCode = gaps.length ? exitCodes.explainedWithGaps : exitCodes.explained;
    } finally {
      bundle.close();
    }
  },
};
export default command;

function selectRun(state: AgentState, wanted: string | undefined): AgentState {
  if (wanted === undefined) return state;
  const runs = state.runs.filter(({ id, name }) => id === wanted || name === wanted);
  if (!runs.length) throw new AgentdumpError('not-found', `no run is called ${wanted}`, { name: wanted });
  return { ...state, runs };
}

async function render(state: AgentState, { json, whole }: Words): Promise<string> {
  if (json) return harmlessJson(JSON.stringify(state, null, 2));
  const { renderAgentTimeline } = await import('../../report/text/agent-timeline.ts');
  const palette = stdoutWantsColour() ? (await import('../terminal-palette.ts')).terminalPalette : undefined;
  return renderAgentTimeline(state, {
    columns: stdoutColumns(),
    whole: whole === true,
    ...(palette && { palette }),
  });
}
