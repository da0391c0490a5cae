/**
 * The installed packages differ from the lock file, and the error points at a package that differs. The confidence depends on
 * how directly it points. Drift with an unrelated error is not a verdict.
 */
import type { ErrorFacts } from '../../../model/account.ts';
import { isOfRuntime } from '../../../model/frame-text.ts';
import type { Confidence } from '../../../model/verdict.ts';
import { isInstalled } from '../../../platform/paths.ts';
import type { DriftFacts } from '../../parts/code.ts';
import { missingModuleOf, packageOf, packageWithoutExport } from '../errors/module-errors.ts';
import type { Cause, VerdictFacts } from '../facts.ts';
import { deathFrames, headlineOf, isSnapshot, rootCause, titled } from '../wording.ts';

type Difference = DriftFacts['differences'][number];

interface Link {
  difference: Difference;
  confidence: Confidence;
  fact: string;
}

export const dependencyDrift: Cause = {
  kind: 'dependency-drift',
  layer: 'reason',
  consider(facts) {
    const { drift, account } = facts;
    const error = account.error && rootCause(account.error);
    if (!drift?.differences.length || !error || isSnapshot(facts)) return undefined;
    const link = linkOf(error, facts, drift);
    if (!link) return undefined;
    const { difference } = link;
    const lockFile = drift.lockFile ?? 'the lock file';
    return {
      kind: 'dependency-drift',
      title: titled(titleOf(difference)),
      summary: `The program failed where it uses ${difference.name}, and ${difference.name} is not installed as ${lockFile} says (${versions(difference)}). ${
        drift.differences.length > 1
          ? `${drift.differences.length} packages differ in all.`
          : 'No other package differs.'
      }`,
      confidence: link.confidence,
      evidence: [
        { fact: headlineOf(error), part: 'error.json' },
        { fact: link.fact, part: 'error.json' },
        { fact: `${difference.name}: ${versions(difference)} (${difference.problem}).`, part: 'drift.json' },
      ],
      refutedBy: 'The same error after an install that follows the lock file to the letter.',
      nextSteps: [
        `Install what ${lockFile} says, into an empty node_modules: ${installCommand[drift.kind ?? 'npm']}.`,
        difference.installed === undefined
          ? `If it is still missing, see whether ${difference.name} is a development dependency: production installs leave those out.`
          : 'If the installed version is wanted, update the lock file and commit it with the code that needs it.',
      ],
    };
  },
};

const installCommand: Record<NonNullable<DriftFacts['kind']>, string> = {
  npm: '`npm ci`',
  pnpm: '`pnpm install --frozen-lockfile`',
  yarn: '`yarn install --immutable`',
  bun: '`bun install --frozen-lockfile`',
};

function linkOf(error: ErrorFacts, facts: VerdictFacts, drift: DriftFacts): Link | undefined {
  const named = (name: string | undefined) => drift.differences.find((d) => d.name === name);
  const missing = missingModuleOf(error);
  const wanted = missing?.packageName ?? (drift.missing && packageOf(drift.missing.specifier));
  const absent = missing || drift.missing ? named(wanted) : undefined;
  if (absent)
    return { difference: absent, confidence: 'certain', fact: `${absent.name} could not be loaded.` };
  const without = packageWithoutExport(error);
  const unexported = named(without?.packageName);
  if (unexported)
    return {
      difference: unexported,
      confidence: 'likely',
      fact: `${unexported.name} does not export ${without?.asked}.`,
    };
  return frameLink(error, facts, named) ?? wordLink(error, drift);
}

/**
 * Thrown in a package that differs, or one call below it. Only for errors that a changed interface causes: a refused
 * connection inside a drifted HTTP client has nothing to do with its version.
 */
function frameLink(
  error: ErrorFacts,
  facts: VerdictFacts,
  named: (name: string | undefined) => Difference | undefined,
): Link | undefined {
  if (error.name !== 'TypeError' && error.name !== 'ReferenceError') return undefined;
  const confidence = /is not (?:a function|a constructor|defined)/.test(error.message ?? '')
    ? 'likely'
    : 'possible';
  const frames = deathFrames(facts.account).filter((frame) => !isOfRuntime(frame));
  for (const frame of frames.slice(0, 2)) {
    const inside = frame.file !== undefined && isInstalled(frame.file) ? packageOf(frame.file) : undefined;
    const difference = named(inside);
    if (difference) return { difference, confidence, fact: `It was thrown in code of ${difference.name}.` };
  }
  return undefined;
}

/** `x.y is not a function`, where x has the name of a package that differs. Only a hint. */
function wordLink(error: ErrorFacts, drift: DriftFacts): Link | undefined {
  const called = /^([\w$.()]{1,200}) is not (?:a function|a constructor)/.exec(error.message ?? '')?.[1];
  if (error.name !== 'TypeError' || called === undefined) return undefined;
  const words = called.toLowerCase().split(/[^a-z0-9]+/);
  const difference = drift.differences.find((d) => {
    const bare = d.name
      .replace(/^@[^/]+\//, '')
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '');
    return bare.length > 2 && words.some((w) => w.replace(/\d+$/, '') === bare || w === `${bare}default`);
  });
  return (
    difference && {
      difference,
      confidence: 'possible',
      fact: `What was called, ${called}, bears the name of ${difference.name}.`,
    }
  );
}

function titleOf(difference: Difference): string {
  const { name, installed, locked } = difference;
  if (installed === undefined && locked) return `${name} ${locked} is in the lock file, but not installed`;
  return `${name} is not the version of the lock file: ${versions(difference)}`;
}

function versions({ locked, installed, requested, problem }: Difference): string {
  const lockedText = locked ? `locked ${locked}` : requested ? `asked for ${requested}` : undefined;
  const installedText = installed ? `installed ${installed}` : 'not installed';
  return lockedText ? `${lockedText}, ${installedText}` : installed ? installedText : problem;
}
