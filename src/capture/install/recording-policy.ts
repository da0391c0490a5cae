/** The policy for what is recorded while the program runs, with counts of its own. */
import type { Policy } from '../../redaction/policy.ts';
import type { Surroundings } from '../fatal-path/surroundings.ts';
import { policyOf } from './policy-of.ts';
import { secretsOfRecipient } from './recipient-secrets.ts';

export function createRecordingPolicy({ config, withheld }: Surroundings): Policy {
  return remembering(policyOf([...withheld, ...secretsOfRecipient(config.recipient)], config));
}

/** A key for an object of a few short texts; undefined for everything else. */
function keyOfSmall(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return undefined;
  const entries = Object.entries(value);
  const isSmall =
    entries.length <= 4 && entries.every(([, one]) => typeof one === 'string' && one.length <= 120);
  return isSmall ? JSON.stringify(entries) : undefined;
}

const mostRemembered = 1000;

/**
 * Objects for hosts, methods and models recur with every request. Those from which nothing was withheld are cached, as the
 * policy itself caches texts: without this a flood of MCP events takes a fifth longer.
 */
function remembering(own: Policy): Policy {
  const clean = new Set<string>();
  return {
    text: (text) => own.text(text),
    addKnown(value) {
      clean.clear();
      return own.addKnown(value);
    },
    value(value, limits) {
      const key = keyOfSmall(value);
      if (key !== undefined && clean.has(key)) return { ...(value as object) };
      const result = own.value(value, limits);
      if (key !== undefined && keyOfSmall(result) === key && clean.size < mostRemembered) clean.add(key);
      return result;
    },
    environment: (environment) => own.environment(environment),
    argv: (argv) => own.argv(argv),
    findings: () => own.findings(),
    knownOnly: (text, keepsLength) => own.knownOnly(text, keepsLength),
    counts: () => own.counts(),
    resetCounts: () => own.resetCounts(),
    stream: () => own.stream(),
    code: (text) => own.code(text),
    masked: (text) => own.masked(text),
    names: (text) => own.names(text),
  };
}
