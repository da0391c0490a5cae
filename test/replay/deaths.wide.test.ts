/** Every deterministic death of the real agents is reproduced from its bundle, after the server is gone. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { whyNoAgents } from '../support/agents/real-agents.ts';
import { commandOf, recordDeath, recordedDeaths, runCli } from '../support/agents/recorded-deaths.ts';
import { temporaryFolder } from '../support/victims/run-victim.ts';

/** Default: 1. For more rounds by hand: AGENTDUMP_REPLAY_ROUNDS=20. */
const rounds = Math.max(1, Number(process.env['AGENTDUMP_REPLAY_ROUNDS'] ?? 1) || 1);
const skip = whyNoAgents();

/** Every second one; all with AGENTDUMP_TEST_MATRIX=full. */
const deaths = recordedDeaths.filter(
  (_, n) => n % 2 === 1 || process.env['AGENTDUMP_TEST_MATRIX'] === 'full',
);

for (const death of deaths)
  test(`${death.name}: reproduced ${rounds} of ${rounds}`, { skip }, async (t) => {
    const dir = temporaryFolder(t);
    const { bundle, url } = await recordDeath(death, dir);
    // A bundle that was written on a loaded machine may lack the environment; the replay reports that.
    const env: Record<string, string> = hasVariables(bundle) ? {} : { MODEL_URL: url };
    for (let round = 0; round < rounds; round++) {
      const { code, stdout, stderr } = await runCli(['replay', bundle, '--', ...commandOf(death)], dir, env);
      assert.match(stdout, /^REPRODUCED/, stdout + stderr);
      assert.match(stdout, /answered +(\d+) of \1 /);
      assert.equal(code, 0);
    }
  });

function hasVariables(bundle: string): boolean {
  const path = join(bundle, 'environment.json');
  return existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).variables !== undefined;
}
