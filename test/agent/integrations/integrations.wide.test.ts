/**
 * What frameworks report besides their model calls, each checked with the real package; and that none can detect the
 * recording.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { AgentRun } from '../../../src/model/agent-state.ts';
import { stateOf } from '../../support/agents/agent-oracle.ts';
import { buildPreload } from '../../support/agents/agent-preload.ts';
import { runAgent, runBoth, whyNoAgents } from '../../support/agents/real-agents.ts';
import { majorsInTurn } from '../../support/run/test-nodes.ts';

let preload: string;
before(async () => {
  preload = await buildPreload();
});

const majors = majorsInTurn(20, 24);
const stepsOf = (run: AgentRun) => run.steps.map(({ name, status }) => `${name} ${status}`);
const toolsOf = (run: AgentRun) =>
  run.toolCalls.map(({ name, status, arguments: given, result }) => [name, status, given, result]);
const weather = ['get_weather', 'finished', { city: 'Oslo' }, 'Oslo: 3 degrees, snow — ❄'];

/** The only run of an agent that asked for the weather once, with all calls inside of it. */
function assertOneRun(runs: AgentRun[], name: string, steps: string[]): AgentRun {
  assert.equal(runs.length, 1, JSON.stringify(runs.map((run) => run.name)));
  const [run] = runs;
  assert.deepEqual([run?.name, run?.status, run?.pending], [name, 'finished', []]);
  assert.deepEqual(run && stepsOf(run), steps);
  assert.deepEqual(run && toolsOf(run), [weather]);
  assert.equal(run?.modelCalls.length, 2);
  return run;
}

for (const major of majors) {
  const skip = whyNoAgents(major);

  test(`AI SDK 7 on Node ${major}: calls and tools in the step they belong to`, { skip }, async () => {
    for (const mode of ['whole', 'stream']) {
      const { ran } = await runAgent('ai-sdk', [mode, '7'], major, preload);
      const name = `${mode === 'whole' ? 'generateText' : 'streamText'} openai.responses gpt-4o-mini`;
      const run = assertOneRun(stateOf(ran).runs, name, ['step 1 finished', 'step 2 finished']);
      const [first, second] = run.steps;
      assert.deepEqual(
        run.modelCalls.map((call) => call.stepId),
        [first?.id, second?.id],
      );
      assert.equal(run.toolCalls[0]?.stepId, first?.id);
    }
  });

  test(`a model call that never left the process on Node ${major}: the framework tells of it`, {
    skip,
  }, async () => {
    for (const framework of ['ai-sdk', 'langchain']) {
      const ran = await runBoth('unsent', [framework], major, preload);
      const calls = stateOf(ran).runs.flatMap(({ modelCalls }) => modelCalls);
      assert.deepEqual(
        calls.map(({ model, status, notSent }) => [model, status, notSent]),
        [['gpt-4o-mini', 'failed', true]],
        framework,
      );
      assert.match(calls[0]?.error?.message ?? '', /bad port|Connection error/);
    }
  });

  test(`AI SDK 6 on Node ${major}: tool calls`, { skip }, async () => {
    const { ran } = await runAgent('ai-sdk', ['stream', '6'], major, preload);
    assert.deepEqual(stateOf(ran).runs.flatMap(toolsOf), [weather]);
  });

  test(`LangGraph on Node ${major}: nodes are steps`, { skip }, async () => {
    const { ran } = await runAgent('langgraph', ['whole'], major, preload);
    const steps = ['__start__', 'agent', 'tools', 'agent'].map((node) => `${node} finished`);
    const run = assertOneRun(stateOf(ran).runs, 'LangGraph', steps);
    assert.deepEqual(run.ids, { thread_id: 'weather-42', user_id: 'u7' });
    assert.equal(run.toolCalls[0]?.stepId, run.steps[2]?.id);
    // The result of a step is recorded with it; the state that accumulates from the results is not repeated with each step.
    const given = run.steps.map(({ result }) => JSON.stringify(result));
    assert.deepEqual(
      given.map((text) => text?.includes('How is Oslo?')),
      [true, false, false, false],
    );
    assert.match(
      given[1] ?? '',
      /^\{"messages":\[\{"id":"reply_0","content":"",.*"type":"ai","tool_calls":\[\{"name":"get_weather"/,
    );
    assert.ok(!given.join('').includes('lc_'));
    const started = ran.events.filter(({ kind }) => kind === 'step.start');
    assert.ok(started.every(({ input }) => input === undefined));
    assert.deepEqual(
      run.modelCalls.map((call) => call.stepId),
      [run.steps[1]?.id, run.steps[3]?.id],
    );
  });

  test(`LangGraph on Node ${major}: a person is asked, and the host's own context variables hold`, {
    skip,
  }, async () => {
    const { runs } = stateOf(await runBoth('langgraph-interrupt', [], major, preload));
    assert.deepEqual(
      runs.map((run) => run.status),
      ['finished', 'finished', 'finished', 'failed'],
    );
    assert.deepEqual(
      runs.map((run) => stepsOf(run).at(-1)),
      ['ask interrupted', 'broken finished', 'ask interrupted', 'broken failed'],
    );
  });

  test(`OpenAI Agents on Node ${major}: a trace is a run`, { skip }, async () => {
    const { ran } = await runAgent('openai-agents', ['stream'], major, preload);
    const run = assertOneRun(stateOf(ran).runs, 'Agent workflow', ['agent Weather finished']);
    assert.deepEqual(run.ids, { conversation_id: 'chat-7', user_id: 'u7' });
  });

  test(`OpenAI Agents on Node ${major}: the same with its tracing off`, { skip }, async () => {
    for (const mode of ['whole', 'stream']) {
      const env = { OPENAI_AGENTS_DISABLE_TRACING: '1' };
      const { ran } = await runAgent('openai-agents', [mode], major, preload, env);
      const run = assertOneRun(stateOf(ran).runs, 'Agent workflow', ['agent Weather finished']);
      assert.deepEqual(run.ids, { conversation_id: 'chat-7', user_id: 'u7' });
      const [step] = run.steps;
      assert.deepEqual(
        [run.toolCalls[0]?.stepId, ...run.modelCalls.map((call) => call.stepId)],
        [step?.id, step?.id, step?.id],
      );
    }
  });

  test(`OpenAI Agents on Node ${major}: a tool's own error`, { skip }, async () => {
    for (const off of ['0', '1']) {
      const env = { OPENAI_AGENTS_DISABLE_TRACING: off };
      const { ran } = await runAgent('openai-agents', ['whole', 'throws'], major, preload, env);
      const [tool] = stateOf(ran).runs[0]?.toolCalls ?? [];
      assert.deepEqual(
        [tool?.status, tool?.error],
        ['failed', { type: 'TypeError', message: 'no station is near Oslo' }],
      );
    }
  });

  test(`OpenAI Agents on Node ${major}: a run that throws has ended, a trace around it goes on`, {
    skip,
  }, async () => {
    for (const tracing of ['on', 'off']) {
      const ran = await runBoth('openai-agents-fails', [tracing], major, preload);
      // With tracing off, the SDK creates its own trace inside of the program's.
      const seen = new Set(stateOf(ran).runs.map(({ name, status }) => `${name} ${status}`));
      assert.deepEqual([...seen], ['Agent workflow failed', 'the day running'], tracing);
    }
  });

  test(`OpenAI Agents on Node ${major}: it dies as it would have`, { skip }, async () => {
    const ran = await runBoth('openai-agents-dies', [], major, preload);
    assert.equal(ran.code, 1);
  });

  test(`MCP over pipes on Node ${major}: tools that answer, fail, and hang to the end`, {
    skip,
  }, async () => {
    const ran = await runBoth('mcp/mcp-client', ['hang'], major, preload);
    assert.equal(ran.signal, 'SIGKILL');
    const [run] = stateOf(ran).runs;
    assert.deepEqual(
      run?.toolCalls.map(({ name, status }) => `${name} ${status}`),
      ['get_weather finished', 'fail failed', 'hang running'],
    );
    assert.match(run?.pending[0] ?? '', /^tool hang/);
    const kinds = ran.events.map((event) => event.kind);
    assert.deepEqual([kinds[0], kinds.includes('mcp.message')], ['mcp.start', true]);
  });

  test(`MCP over pipes on Node ${major}: a host that writes in the tick in which it starts the server`, {
    skip,
  }, async () => {
    const { runs } = stateOf(await runBoth('mcp/mcp-same-tick', [], major, preload));
    const [name, status, given, text] = weather;
    assert.deepEqual(runs.flatMap(toolsOf), [[name, status, given, [{ type: 'text', text }]]]);
  });

  test(`MCP over HTTP on Node ${major}: answers as events and as JSON`, { skip }, async () => {
    for (const form of ['events', 'json']) {
      const { runs } = stateOf(await runBoth('mcp/mcp-http', [form], major, preload));
      assert.deepEqual(
        runs.flatMap(({ toolCalls }) => toolCalls).map(({ name, status }) => `${name} ${status}`),
        ['get_weather finished', 'fail failed'],
        form,
      );
    }
  });
}
