/**
 * The second preload of a replay, `dist/replay.cjs`: connections to servers of the recording go to the replayer, the
 * clock starts when it started then, and random numbers come from a seed. Everything above the connection is the
 * program's own: its client, its streams, its time-outs. No dependency.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { offerToolsToAiSdk } from './ai-sdk-tools.ts';
import { setClock } from './clock.ts';
import { offerToolsToLangChain } from './langchain-tools.ts';
import { offerToolsToOpenaiAgents } from './openai-agents-tools.ts';
import { planVariable, type ReplayPlan } from './plan.ts';
import { seedRandom } from './random.ts';
import { redirectConnections } from './redirect.ts';
import { offerTools } from './tools.ts';

const path = process.env[planVariable];
if (path) {
  const plan = JSON.parse(readFileSync(path, 'utf8')) as ReplayPlan;
  tellPid(plan.pidFile);
  redirectConnections(plan);
  if (plan.startedAtMs !== undefined) setClock(plan.startedAtMs);
  seedRandom(plan.seed);
  offerTools(plan);
  const names = Object.keys(plan.tools ?? {});
  offerToolsToAiSdk(names);
  offerToolsToLangChain(names);
  offerToolsToOpenaiAgents(names);
  syncBuiltinESMExports();
}

/** The first process is the program; those that it starts find the file there. */
function tellPid(file: string): void {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch {
    // A child of the program, or one of its threads.
  }
}
