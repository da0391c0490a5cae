/**
 * The redactor for what is written about another process: the rules of the preload, with this process's environment, which
 * the program inherited, and the values that the program's processes withhold as known secrets. Each call verifies itself.
 */
import { homedir } from 'node:os';
import { canary } from '../../capture/fatal-path/canary.ts';
import { secretsOfRecipient } from '../../capture/install/recipient-secrets.ts';
import { createPolicy, type Policy } from '../../redaction/index.ts';
import { proveScrubber } from './proven-scrubber.ts';

export type Scrubber = Policy;

/** `withheld`: values that the program has registered (scrub/withheld-of-lives.ts). */
export function makeScrubber(
  environment: Readonly<Record<string, string | undefined>>,
  withheld: readonly string[] = [],
): Scrubber {
  const policy = createPolicy({
    environment,
    known: [...secretsOfRecipient(environment['AGENTDUMP_RECIPIENT']), canary(), ...withheld],
    allow: namesIn(environment['AGENTDUMP_ALLOW']),
    deny: namesIn(environment['AGENTDUMP_DENY']),
    home: homedir(),
    learns: true,
  });
  return proveScrubber(policy);
}

function namesIn(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
