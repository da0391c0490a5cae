/**
 * The redactor for what is written about another process after its death: the rules of the preload, with this
 * process's environment, which the program inherited, as the source of known secrets.
 */
import { homedir } from 'node:os';
import { secretsOfRecipient } from '../capture/recipient-secrets.ts';
import { createPolicy, type Policy } from '../redaction/index.ts';

export type Scrubber = Policy;

export function makeScrubber(environment: Readonly<Record<string, string | undefined>>): Scrubber {
  return createPolicy({
    environment,
    known: secretsOfRecipient(environment['AGENTDUMP_RECIPIENT']),
    allow: namesIn(environment['AGENTDUMP_ALLOW']),
    deny: namesIn(environment['AGENTDUMP_DENY']),
    home: homedir(),
  });
}

function namesIn(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
