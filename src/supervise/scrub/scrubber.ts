/**
 * The redactor for what is written about another process after its death: the rules of the preload, with this
 * process's environment, which the program inherited, as the source of known secrets. Each call proves itself.
 */
import { homedir } from 'node:os';
import { canary } from '../../capture/fatal-path/canary.ts';
import { secretsOfRecipient } from '../../capture/install/recipient-secrets.ts';
import { createPolicy, type Policy } from '../../redaction/index.ts';
import { proveScrubber } from './proven-scrubber.ts';

export type Scrubber = Policy;

export function makeScrubber(environment: Readonly<Record<string, string | undefined>>): Scrubber {
  const policy = createPolicy({
    environment,
    known: [...secretsOfRecipient(environment['AGENTDUMP_RECIPIENT']), canary()],
    allow: namesIn(environment['AGENTDUMP_ALLOW']),
    deny: namesIn(environment['AGENTDUMP_DENY']),
    home: homedir(),
  });
  return proveScrubber(policy);
}

function namesIn(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
