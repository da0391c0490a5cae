/**
 * The second preload of a replay, `dist/replay.cjs`: redirects connections to recorded servers to the replayer, starts the
 * clock at the recorded time, and seeds random numbers. Everything above the connection is the program's own: its client, its
 * streams, its timeouts. No dependencies.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { offerToolsToAiSdk } from './ai-sdk-tools.ts';
import { setClock } from './clock.ts';
import { watchEffects } from './effects.ts';
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
  if (plan.effects) watchEffects(plan.effects);
  syncBuiltinESMExports();
}

/** The first process is the program. The processes that it starts find that the file exists. */
function tellPid(file: string): void {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch {
    // This is a child of the program, or one of its threads.
  }
}
