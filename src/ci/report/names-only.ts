/**
 * What a report may say in the clear when the bundles are encrypted: names, verdicts, places and counts. Messages, stacks, the
 * command's arguments and what the agent called are in the bundles, for who has the key.
 */
import { basename } from 'node:path';
import type { CiBundle, CiLeak, CiSummary, CiTest } from '../../model/ci-summary.ts';

const leftOutNote =
  'AGENTDUMP_RECIPIENT is set: messages, stacks, arguments and calls are in the encrypted bundles alone';

/** The summary without what is not a name, a verdict, a place or a number. */
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

/** The error's name tells its kind, its message quotes what the program saw. */
function withoutError({ error, ...test }: CiTest): CiTest {
  return {
    ...test,
    ...(error && { error: { ...(error.name !== undefined && { name: error.name }), message: '' } }),
  };
}

/** Of the verdict its kind: a title may quote an error's message. */
function withoutWords(bundle: CiBundle): CiBundle {
  const rest = { ...bundle, ...(bundle.kind !== undefined && { title: bundle.kind }) };
  if (bundle.kind === undefined) delete rest.title;
  delete rest.summary;
  delete rest.lastModelCall;
  delete rest.lastToolCall;
  return rest;
}

/** The ways to an object name properties, which may be keys of a user's map. */
function withoutPaths(leak: CiLeak): CiLeak {
  return { ...leak, suspects: leak.suspects.map((suspect) => ({ ...suspect, path: '' })) };
}
