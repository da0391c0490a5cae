/**
 * A scrubber that verifies itself at every call, like the preload's redaction: this process's canary is added to the input
 * and must come back as a placeholder. If it does not, the input is replaced by the reason. Written parts are checked once
 * more before the bundle is sealed.
 */
import type { BundleWriter } from '../../bundle/write/writer.ts';
import {
  canary,
  countUprooted,
  dropUnprovenParts,
  redactText,
  requireWithheld,
  UnprovenRedaction,
  uproot,
  withCanary,
  withheldWhole,
  withoutCanary,
} from '../../capture/fatal-path/canary.ts';
import { withholdFindings } from '../../capture/fatal-path/own-findings.ts';
import type { Policy } from '../../redaction/index.ts';

/** The policy must have the canary as a known secret. */
export function proveScrubber(policy: Policy): Policy {
  return {
    text: (input) => orReason(() => redactText(input, (all) => policy.text(all))),
    code: (input) => orReason(() => redactText(input, (all) => policy.code(all))),
    masked: (input) => orReason(() => redactText(input, (all) => policy.masked(all))),
    names: (input) => orReason(() => redactText(input, (all) => policy.names(all))),
    value: (input, limits) =>
      orReason(() => {
        const copy = policy.value(withCanary({ input }), limits);
        uproot(copy);
        return (copy as { input: unknown }).input;
      }),
    argv: (input) => {
      const words = orReason(() => {
        const [first, ...rest] = policy.argv([canary(), ...input]);
        countUprooted(requireWithheld(first));
        return rest;
      });
      return typeof words === 'string' ? [words] : words;
    },
    findings: () => policy.findings(),
    knownOnly: (input, keepsLength) => policy.knownOnly(input, keepsLength),
    counts: () => withoutCanary(policy.counts()),
    resetCounts: () => policy.resetCounts(),
    environment: (environment) => {
      const entries = policy.environment(withCanary({ ...environment }));
      uproot(entries);
      return entries;
    },
    addKnown: (value) => policy.addKnown(value),
    stream: () => proveStream(policy.stream()),
  };
}

type Stream = ReturnType<Policy['stream']>;

/** The canary is written first, on its own line. Nothing is passed on until that line has come out as a placeholder. */
function proveStream(stream: Stream): Stream {
  let held = stream.write(`${canary()}\n`);
  let state: 'unproven' | 'proven' | 'failed' = 'unproven';
  const pass = (clean: string): string => {
    if (state === 'proven') return clean;
    if (state === 'failed') return '';
    held += clean;
    const end = held.indexOf('\n');
    if (end < 0) return '';
    const shown = orReason(() => {
      countUprooted(requireWithheld(held.slice(0, end)));
      state = 'proven';
      return held.slice(end + 1);
    });
    if (state === 'unproven') state = 'failed';
    held = '';
    return shown;
  };
  const end = (): string => {
    const rest = pass(stream.end());
    return state === 'unproven' ? withheldWhole('what became of a planted secret is not to be found') : rest;
  };
  return { write: (chunk) => pass(stream.write(chunk)), end };
}

function orReason<Result>(redact: () => Result): Result | string {
  try {
    return redact();
  } catch (error) {
    if (error instanceof UnprovenRedaction) return withheldWhole(error.message);
    throw error;
  }
}

/** Withholds from all parts what one withholds, drops those that contain a planted secret, and seals the bundle. Returns its path. */
export function sealProven(bundle: BundleWriter, scrubber: Policy): string {
  // Before the search, which would replace the planted secret in a part of a broken redactor.
  dropUnprovenParts(bundle);
  withholdFindings(bundle, scrubber);
  return bundle.seal();
}
