/** Questions about the agent: its runs as a timeline, and its conversation page by page. */
import type { AgentEvents } from '../../analysis/agent/events.ts';
import { cutAgentEvents } from '../../analysis/agent/point.ts';
import { readAgentEvents } from '../../analysis/agent/read.ts';
import { computeAgentState } from '../../analysis/agent/timeline.ts';
import type { BundleReader } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import { type AgentMessage, type AgentRun, type AgentState, nameOfRun } from '../../model/agent-state.ts';
import { clip } from '../../model/quantities.ts';
import { renderAgentTimeline } from '../../report/text/agent-timeline.ts';
import { page } from './account-tools.ts';
import type { AllowedBundles } from './allowed-bundles.ts';
import {
  conversationSchema,
  structuredTimeline,
  structuredWhere,
  timelineSchema,
  whereSchema,
} from './structured-agent.ts';
import {
  bundleField,
  bundleOf,
  countOf,
  type InputField,
  type Tool,
  type ToolAnswer,
  type ToolWords,
  textOf,
} from './tool.ts';

const runField: InputField = {
  type: 'string',
  description: 'Only the run with this id or name',
  maxLength: 500,
};

function requireEvents(bundle: BundleReader): AgentEvents {
  const { events } = readAgentEvents(bundle);
  if (events) return events;
  throw new AgentdumpError('not-found', 'the bundle tells of no agent', { path: bundle.path });
}

async function readState(words: ToolWords, allowed: AllowedBundles): Promise<AgentState> {
  const state = await allowed.with(bundleOf(words), (bundle) => {
    const { events } = readAgentEvents(bundle);
    if (!events) throw new AgentdumpError('not-found', 'the bundle tells of no agent', { path: bundle.path });
    const at = textOf(words, 'at');
    return computeAgentState(at === undefined ? events : cutAgentEvents(events, at));
  });
  const wanted = textOf(words, 'run');
  if (wanted === undefined) return state;
  const runs = state.runs.filter(({ id, name }) => id === wanted || name === wanted);
  if (!runs.length) throw new AgentdumpError('not-found', `no run is called ${wanted}`, { name: wanted });
  return { ...state, runs };
}

const timelineTool: Tool = {
  name: 'agent_timeline',
  title: 'What the agent did',
  description:
    'Runs, steps, model calls and tool calls with arguments and results, counted back from the death; what was open then.',
  input: {
    fields: {
      bundle: bundleField,
      run: runField,
      at: {
        type: 'string',
        description: 'State at an earlier point: an event number, a time, -30s, or the id of a step or call',
        maxLength: 100,
      },
    },
  },
  async answer(words, allowed) {
    const state = await readState(words, allowed);
    // The conversation has a tool of its own, with pages.
    const runs = state.runs.map((run) => ({ ...run, messages: [] }));
    return { text: renderAgentTimeline({ ...state, runs }, page), data: structuredTimeline(state) };
  },
  output: timelineSchema,
};

const conversationTool: Tool = {
  name: 'conversation',
  title: 'The conversation',
  description:
    'What was said to and by the model, as the model saw it, with tool calls and results; a page at a time, the last page first.',
  input: {
    fields: {
      bundle: bundleField,
      run: runField,
      offset: {
        type: 'integer',
        description: '0-based index of the first message; default: the last page',
        minimum: 0,
      },
      limit: { type: 'integer', description: 'Messages', minimum: 1, maximum: 100, default: 20 },
      max_chars: {
        type: 'integer',
        description: 'Characters of each message',
        minimum: 100,
        maximum: 20_000,
        default: 800,
      },
    },
  },
  async answer(words, allowed) {
    const { runs } = await readState(words, allowed);
    const run = runs.toSorted((a, b) => b.messages.length - a.messages.length)[0];
    if (!run?.messages.length)
      return { text: 'no message was recorded', data: { total: 0, first: 0, messages: [] } };
    return conversationPage(run, words);
  },
  output: conversationSchema,
};

function conversationPage(run: AgentRun, words: ToolWords): ToolAnswer {
  const { messages } = run;
  const maxChars = countOf(words, 'max_chars', 800);
  const limit = countOf(words, 'limit', 20);
  const first = Math.min(countOf(words, 'offset', Math.max(0, messages.length - limit)), messages.length);
  const shown = messages.slice(first, first + limit);
  const next = first + shown.length;
  const partial = run.modelCalls.findLast((call) => call.partialText !== undefined)?.partialText;
  const lines = [
    `${nameOfRun(run)}: messages ${first} to ${next - 1} of ${messages.length}`,
    ...(run.unknownMessages ? [`${run.unknownMessages} messages before these were not recorded`] : []),
    ...shown.map((message, index) => messageText(message, first + index, maxChars)),
    ...(partial !== undefined && next === messages.length
      ? [`[cut by the death] assistant: ${partial}`]
      : []),
    ...(next < messages.length ? [`next page: offset ${next}`] : []),
  ];
  return {
    text: lines.join('\n'),
    data: {
      run: nameOfRun(run),
      first,
      total: messages.length,
      unknownBefore: run.unknownMessages,
      next: next < messages.length ? next : undefined,
      messages: shown.map((message, index) => ({
        index: first + index,
        role: message.role,
        content: contentText(message, maxChars),
      })),
      cutByDeath: next === messages.length ? partial : undefined,
    },
  };
}

function messageText(message: AgentMessage, index: number, maxChars: number): string {
  return `[${index}] ${message.role}: ${contentText(message, maxChars)}`;
}

function contentText({ content }: AgentMessage, maxChars: number): string {
  return clip(typeof content === 'string' ? content : (JSON.stringify(content) ?? ''), maxChars);
}

const whereTool: Tool = {
  name: 'agent_where',
  title: 'First change that matches',
  description:
    'The first change after which a CEL expression over state, plan, progress and run holds, e.g. `size(state.todo) == 0`.',
  input: {
    fields: {
      bundle: bundleField,
      expression: { type: 'string', description: 'CEL (cel.dev)', maxLength: 2000 },
    },
    required: ['expression'],
  },
  async answer(words, allowed) {
    const { findWhere } = await import('../../analysis/agent/where.ts');
    const { renderWhere } = await import('../../report/text/agent-points.ts');
    const events = await allowed.with(bundleOf(words), requireEvents);
    const answer = findWhere(events, textOf(words, 'expression') ?? '');
    return { text: renderWhere(answer, page), data: structuredWhere(answer) };
  },
  output: whereSchema,
};

export const agentTools: readonly Tool[] = [timelineTool, conversationTool, whereTool];
