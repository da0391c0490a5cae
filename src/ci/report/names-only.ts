/**
 * Reduces a report to what may be unencrypted when the bundles are encrypted: names, verdicts, places and counts. Messages,
 * stacks, the command's arguments and the agent's calls are only in the bundles.
 */
import { basename } from 'node:path';
import type { CiBundle, CiLeak, CiSummary, CiTest } from '../../model/ci-summary.ts';

const leftOutNote =
  'AGENTDUMP_RECIPIENT is set: messages, stacks, arguments and calls are in the encrypted bundles alone';

/** The summary with only names, verdicts, places and numbers. */
export function keepNames(summary: CiSummary): CiSummary {
  const [program = '', ...words] = summary.command;
  return {
    ...summary,
    command: [basename(program), ...(words.length ? ['…'] : [])],
    tests: { ...summary.tests, telling: summary.tests.telling.map(withoutError) },
    bundles: summary.bundles.map(withoutWords),
    ...(summary.leaks && { leaks: summary.leaks.map(withoutPaths) }),
    gaps: [leftOutNote],
  };
}

/** The name of an error is its kind; its message may quote the program's data. */
function withoutError({ error, ...test }: CiTest): CiTest {
  return {
    ...test,
    ...(error && { error: { ...(error.name !== undefined && { name: error.name }), message: '' } }),
  };
}

/** Replaces the title by the verdict's kind, because it may quote an error's message. */
function withoutWords(bundle: CiBundle): CiBundle {
  const rest = { ...bundle, ...(bundle.kind !== undefined && { title: bundle.kind }) };
  if (bundle.kind === undefined) delete rest.title;
  delete rest.summary;
  delete rest.lastModelCall;
  delete rest.lastToolCall;
  return rest;
}

/** The path to an object contains property names, which may be keys of a user's map. */
function withoutPaths(leak: CiLeak): CiLeak {
  return { ...leak, suspects: leak.suspects.map((suspect) => ({ ...suspect, path: '' })) };
}
