/**
 * The redaction policy of this process: created on first use, from the variables as they are now and as they were at exec (a
 * host may have deleted a secret that its heap still contains), and the values that the host registered.
 */
import { homedir } from 'node:os';
import { platform } from '../../platform/index.ts';
import { createPolicy, type Policy } from '../../redaction/policy.ts';
import { canary } from '../fatal-path/canary.ts';
import type { Surroundings } from '../fatal-path/surroundings.ts';
import { secretsOfRecipient } from './recipient-secrets.ts';

let known: readonly string[] = [];
let names: { allow?: string[]; deny?: string[] } = {};
let policy: Policy | undefined;

/** Takes the host's values and names as they are now; the policy itself is created on first use. */
export function configurePolicy({ config, withheld }: Surroundings): void {
  names = { allow: config.allow, deny: config.deny };
  known = [...withheld, ...secretsOfRecipient(config.recipient), canary()];
  policy = undefined;
}

export function currentPolicy(): Policy {
  policy ??= createPolicy({
    environment: { ...environmentAtExec(), ...process.env },
    known,
    home: findHome(),
    ...names,
  });
  return policy;
}

/** The program may have replaced node:os with something that throws. */
function findHome(): string {
  try {
    return homedir();
  } catch {
    return process.env['HOME'] ?? '';
  }
}

/** The same policy for what is recorded while the program runs, with separate counts. */
export function createRecordingPolicy(surroundings: Surroundings): Policy {
  configurePolicy(surroundings);
  const own = currentPolicy();
  policy = undefined;
  return remembering(own);
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
    counts: () => own.counts(),
    resetCounts: () => own.resetCounts(),
    stream: () => own.stream(),
    code: (text) => own.code(text),
    masked: (text) => own.masked(text),
    names: (text) => own.names(text),
  };
}

function environmentAtExec(): Record<string, string> {
  const pairs = (platform.processFile('self', 'environ', 2 * 1024 * 1024) ?? '').split('\0');
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const equals = pair.indexOf('=');
      return equals > 0 ? [[pair.slice(0, equals), pair.slice(equals + 1)] as const] : [];
    }),
  );
}
