/** `agentdump agent`: the activity of the agent, as one timeline that ends at the death. */
import type { CommandModule } from 'yargs';
import type { AgentEvents } from '../../analysis/agent/events.ts';
import { findFailures } from '../../analysis/agent/failures/failures.ts';
import { cutAgentEvents } from '../../analysis/agent/point.ts';
import { computePointDiff } from '../../analysis/agent/point-diff.ts';
import { readAgentEvents } from '../../analysis/agent/read.ts';
import { computeAgentState } from '../../analysis/agent/timeline.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import { agentDiffSchema, agentWhereSchema } from '../../model/agent-points.ts';
import type { AgentState } from '../../model/agent-state.ts';
import { harmlessJson } from '../../report/json.ts';
import type { AgentTextOptions } from '../../report/text/agent-timeline.ts';
import { exitCodes } from '../exit-codes.ts';
import { finishLatestDeath } from '../latest-death.ts';
import {
  type BundleWords,
  bundlePositional,
  dirOption,
  keyOptions,
  keysOf,
  pathOf,
} from '../options/bundle-options.ts';
import { note, print, stdoutColumns, stdoutWantsColour } from '../output/output.ts';

interface Words extends BundleWords {
  at?: string | undefined;
  diff?: string[] | undefined;
  where?: string | undefined;
  run?: string | undefined;
  whole?: boolean | undefined;
  json?: boolean | undefined;
}

const command: CommandModule<object, Words> = {
  command: 'agent <bundle>',
  describe: 'Show what the agent was doing: runs, steps, model and tool calls, conversation',
  builder: (yargs) =>
    yargs
      .positional('bundle', bundlePositional)
      .option('at', {
        type: 'string',
        describe: 'State at an earlier point: an event number, a time, -30s, or the id of a step or call',
      })
      .option('diff', {
        type: 'string',
        nargs: 2,
        describe: 'Changes between two points, given as for --at',
        // With a count yargs passes a list, which its types don't include.
        coerce: (points: unknown) => [points].flat().map(String),
      })
      .option('where', {
        type: 'string',
        requiresArg: true,
        describe: 'First change after which a CEL expression over state, plan, progress and run is true',
      })
      .conflicts({ diff: ['at', 'where'], where: ['at'] })
      .option('run', { type: 'string', describe: 'Only the run with this id or name' })
      .option('whole', { type: 'boolean', describe: 'Do not truncate messages' })
      .option('json', { type: 'boolean', describe: 'Print JSON' })
      .option('dir', dirOption)
      .options(keyOptions)
      .epilogue('Exit code: 0 complete, 1 with gaps, 2 usage, 3 unreadable or no agent in it.'),
  handler: async (words) => {
    await finishLatestDeath(words);
    const bundle = openBundle(pathOf(words), await keysOf(words));
    try {
      const { events, gaps } = readAgentEvents(bundle);
      if (!events)
        throw new AgentdumpError('not-found', 'the bundle tells of no agent', { path: bundle.path });
      print(await answer(events, words));
      for (const gap of gaps) note(`${gap.part}: ${gap.reason}`);
      process.exitCode = gaps.length ? exitCodes.explainedWithGaps : exitCodes.explained;
    } finally {
      bundle.close();
    }
  },
};
export default command;

async function answer(events: AgentEvents, words: Words): Promise<string> {
  if (words.where !== undefined) return answerWhere(events, words.where, words);
  if (words.diff !== undefined) return answerDiff(events, words.diff, words);
  const cut = words.at === undefined ? events : cutAgentEvents(events, words.at);
  const state = selectRun(computeAgentState(cut), words.run);
  const failures = findFailures({ agent: state });
  const last = cut.events.at(-1);
  const moment = words.at === undefined ? undefined : { seq: last?.seq, beforeEndMs: events.at - cut.at };
  return render({ ...state, ...(failures.length && { failures }) }, words, moment);
}

/** The expression language is loaded on demand. */
async function answerWhere(events: AgentEvents, expression: string, { json }: Words): Promise<string> {
  const { findWhere } = await import('../../analysis/agent/where.ts');
  const found = findWhere(events, expression);
  if (json) return jsonOf({ schema: agentWhereSchema, ...found });
  const { renderWhere } = await import('../../report/text/agent-points.ts');
  return renderWhere(found, await textOptions());
}

async function answerDiff(events: AgentEvents, points: string[], { json }: Words): Promise<string> {
  const [a, b] = points;
  if (a === undefined || b === undefined)
    throw new AgentdumpError('usage', '--diff takes two points', { argument: 'diff' });
  const diff = computePointDiff(events, a, b);
  if (json) return jsonOf({ schema: agentDiffSchema, ...diff });
  const { renderPointDiff } = await import('../../report/text/agent-points.ts');
  return renderPointDiff(diff, await textOptions());
}

const jsonOf = (document: object): string => harmlessJson(JSON.stringify(document, null, 2));

async function textOptions() {
  const palette = stdoutWantsColour()
    ? (await import('../output/terminal-palette.ts')).terminalPalette
    : undefined;
  return { columns: stdoutColumns(), ...(palette && { palette }) };
}

function selectRun(state: AgentState, wanted: string | undefined): AgentState {
  if (wanted === undefined) return state;
  const runs = state.runs.filter(({ id, name }) => id === wanted || name === wanted);
  if (!runs.length) throw new AgentdumpError('not-found', `no run is called ${wanted}`, { name: wanted });
  return { ...state, runs };
}

async function render(
  state: AgentState,
  { json, whole }: Words,
  moment: AgentTextOptions['moment'],
): Promise<string> {
  if (json) return jsonOf(state);
  const { renderAgentTimeline } = await import('../../report/text/agent-timeline.ts');
  return renderAgentTimeline(state, {
    ...(await textOptions()),
    whole: whole === true,
    ...(moment && { moment }),
  });
}
