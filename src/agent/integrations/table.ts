/** The integrations. Each does nothing if its framework is absent or has an unexpected shape. */
import type { AgentRecorder } from '../record/recorder.ts';
import type { Tap } from '../taps/channels.ts';
import { integrateAiSdk } from './ai-sdk.ts';
import { integrateLangChain } from './langchain.ts';
import { integrateMcpStdio } from './mcp-stdio.ts';
import { integrateOpenaiAgents } from './openai-agents.ts';

const integrations = [integrateAiSdk, integrateLangChain, integrateOpenaiAgents, integrateMcpStdio];

/** Starts all integrations. One that fails to start is left out; the taps still see its model calls. */
export function integrate(recorder: AgentRecorder): Tap[] {
  return integrations.flatMap((start) => {
    try {
      return [start(recorder)];
    } catch {
      return [];
    }
  });
}
