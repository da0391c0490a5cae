/**
 * Code that could not be loaded: a missing module, a syntax error, an addon for another version of Node, a package without
 * the requested export. During startup it is the reason of the death; later, on demand, it is an ordinary error of a running
 * program.
 */
import { isBuiltin } from 'node:module';
import { loaderCodes } from '../../../bundle/layout/verdict-codes.ts';
import type { ErrorFacts } from '../../../model/account.ts';
import { endOfPath, shortFile } from '../../../model/frame-text.ts';
import { lastName } from '../../../platform/paths.ts';
import type { VerdictFacts } from '../facts.ts';
import {
  cwdOf,
  deathFrames,
  headlineOf,
  isSnapshot,
  maxTitleChars,
  rootCause,
  titled,
  titleWithPlace,
} from '../wording.ts';
import {
  isThrownByLoader,
  missingModuleOf,
  packageWithoutExport,
  syntaxErrorPlace,
  wrongAbiOf,
} from './module-errors.ts';
import { newerNodeStep } from './newer-node.ts';

/** Loading after this time is not part of the startup. */
const startMs = 30_000;

export interface LoadFailure {
  title: string;
  facts: string[];
  steps: string[];
}

/** What could not be loaded, if the root cause is an error of Node's module loaders; otherwise undefined. */
export function findLoadFailure(facts: VerdictFacts): LoadFailure | undefined {
  const error = facts.account.error && rootCause(facts.account.error);
  if (!error || !isLoadFailure(error, facts) || isSnapshot(facts)) return undefined;
  return findingOf(error, facts);
}

/** True if the program was already running, so that the module was loaded on demand. */
export function isOnDemand({ trigger, account }: VerdictFacts): boolean {
  return trigger?.phase ? trigger.phase === 'at-work' : (account.process?.uptimeMs ?? 0) > startMs;
}

export const onDemandFailure = (facts: VerdictFacts): LoadFailure | undefined =>
  isOnDemand(facts) ? findLoadFailure(facts) : undefined;

function isLoadFailure(error: ErrorFacts, facts: VerdictFacts): boolean {
  if (error.code !== undefined && loaderCodes.has(error.code)) return true;
  const frames = error === facts.account.error ? deathFrames(facts.account) : (error.frames ?? []);
  return error.name === 'SyntaxError' && isThrownByLoader(error, frames);
}

function findingOf(error: ErrorFacts, facts: VerdictFacts): LoadFailure {
  return (
    missing(error, facts) ??
    wrongAbi(error, facts) ??
    withoutBuiltIn(error, facts) ??
    syntax(error, facts) ??
    withoutAttribute(error, facts) ??
    withoutExport(error) ??
    other(error)
  );
}

function missing(error: ErrorFacts, facts: VerdictFacts): LoadFailure | undefined {
  const module = missingModuleOf(error);
  if (!module) return undefined;
  const from = module.from && shortFile(module.from, cwdOf(facts.account));
  const wanted = shortFile(module.specifier, cwdOf(facts.account));
  const requested = facts.account.modules?.packages.find((p) => p.name === module.packageName)?.requested;
  return {
    title: missingTitle(
      module.packageName ? `The package ${module.packageName}` : 'The file',
      module.packageName ? '' : wanted,
      from,
    ),
    facts: [
      headlineOf(error),
      ...(from ? [`It was asked for by ${from}.`] : []),
      ...(requested ? [`package.json asks for ${requested}.`] : []),
    ],
    steps: module.packageName
      ? [
          'Install what the lock file says: `npm ci` (or the like) in the folder of the program.',
          `If it still fails, look whether ${module.packageName} stands under dependencies, not devDependencies: production installs leave those out.`,
        ]
      : [
          'Check that the build wrote that file, and that letter case and extension are right: ES modules need the extension.',
          'In an image, check that the folder is copied and not named by .dockerignore.',
        ],
  };
}

function missingTitle(what: string, wanted: string, from: string | undefined): string {
  const room = maxTitleChars - `${what}  is missing, asked for by `.length;
  const asked =
    from === undefined ? '' : endOfPath(from, Math.max(Math.floor(room / 2), room - wanted.length));
  const file = wanted && ` ${endOfPath(wanted, room - asked.length)}`;
  return `${what}${file} is missing${asked && `, asked for by ${asked}`}`;
}

function wrongAbi(error: ErrorFacts, facts: VerdictFacts): LoadFailure | undefined {
  const abi = wrongAbiOf(error);
  if (!abi) return undefined;
  const path = abi.file ? shortFile(abi.file, cwdOf(facts.account)) : 'a native addon';
  const name = lastName(path) || path;
  return {
    title: `${name} was built for ${abi.builtFor}, but this is ${abi.runningOn}`,
    facts: [
      `${path} was built for ${abi.builtFor}, and the process runs on ${abi.runningOn} (${abi.versions}).`,
    ],
    steps: [
      'Build the addon again for this Node: `npm rebuild`, or install again with the Node that will run it.',
      'In an image, install with the same Node version in the build stage and in the last one.',
    ],
  };
}

/** A module of Node, or an export of one, that this version of Node lacks. */
function withoutBuiltIn(error: ErrorFacts, facts: VerdictFacts): LoadFailure | undefined {
  const { account } = facts;
  const wanted = missingOfNode(error);
  if (!wanted) return undefined;
  const version = account.process?.nodeVersion;
  const found = error === account.error ? facts.syntaxPlace : undefined;
  const place = found ? `${pathOf(found.url)}:${found.line}:${found.column}` : syntaxErrorPlace(error);
  const where = place && shortFile(place, cwdOf(account));
  const title = `${version === undefined ? 'This Node' : `Node ${version.replace(/^v/, '')}`} has no ${wanted}`;
  const newer = newerNodeStep(error, version);
  return {
    title: titleWithPlace(where === undefined ? title : `${title}, imported`, 'in', where),
    facts: [headlineOf(error), ...(where ? [`It is imported at ${where}.`] : [])],
    steps: [
      ...(where ? [`Open ${where}.`] : []),
      newer ??
        'Compare the name with Node’s documentation of this version: its letters, and in which version it was added.',
    ],
  };
}

function missingOfNode({ code, message = '' }: ErrorFacts): string | undefined {
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') return /: (node:[\w/]+)$/.exec(message)?.[1];
  const [, module, name] = noSuchExport.exec(message) ?? [];
  if (module === undefined || !isBuiltin(module)) return undefined;
  return `export ${name} in node:${module.replace(/^node:/, '')}`;
}

/** Of a file of the program, or of Node. */
const noSuchExport = /^The requested module '([^'\n]+)' does not provide an export named '([^'\n]+)'/;

function syntax(error: ErrorFacts, facts: VerdictFacts): LoadFailure | undefined {
  if (error.name !== 'SyntaxError' || packageWithoutExport(error)) return undefined;
  const found = error === facts.account.error ? facts.syntaxPlace : undefined;
  const place = found ? `${pathOf(found.url)}:${found.line}:${found.column}` : syntaxErrorPlace(error);
  const where = place && shortFile(place, cwdOf(facts.account));
  const [, module, name] = noSuchExport.exec(error.message ?? '') ?? [];
  if (module !== undefined && where)
    return {
      title: titleWithPlace(`${endOfPath(module, 40)} has no export ${name}, imported`, 'in', where),
      facts: [headlineOf(error), `It is imported at ${where}.`],
      steps: [
        `Open ${where}.`,
        `Compare the name with what ${module} exports: its letters, and whether it is the default export.`,
      ],
    };
  return {
    title: titleWithPlace(headlineOf(error), 'in', where),
    facts: [
      headlineOf(error),
      ...(where
        ? [`Node stopped reading at ${where}${found?.sourceLine ? `: ${found.sourceLine}` : '.'}`]
        : []),
    ],
    steps: [
      where ? `Open ${where}.` : 'The message of Node on stderr names the file and the line.',
      'If the text is valid, this Node may be too old for it, or the file is read as the wrong kind of module (see "type" in package.json).',
    ],
  };
}

/** The path of a file: URL; not decoded if its escapes are invalid. */
function pathOf(url: string): string {
  const path = url.replace(/^file:\/\//, '');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Node doesn't say which module imports it, and seldom leaves a frame of the program. */
function withoutAttribute(error: ErrorFacts, { account }: VerdictFacts): LoadFailure | undefined {
  const [, url, type] =
    /^Module "([^"\n]+)" needs an import attribute of (?:type "|"type: )([\w-]+)"/.exec(
      error.message ?? '',
    ) ?? [];
  if (url === undefined) return undefined;
  const file = shortFile(pathOf(url), cwdOf(account));
  const attribute = `with { type: '${type}' }`;
  const call = `import(…, { with: { type: '${type}' } })`;
  const isCall = (error.frames ?? []).some(
    ({ inApp, line, source }) =>
      inApp && isImportCallOf(file, source?.find((one) => one.line === line)?.text),
  );
  return {
    title: titled(`The import of ${endOfPath(file, 50)} lacks its attribute: ${attribute}`),
    facts: [headlineOf(error)],
    steps: [
      isCall
        ? `Import ${file} as \`${call}\`.`
        : `Write \`${attribute}\` behind each import of ${file}, or \`${call}\` where it is imported on demand.`,
    ],
  };
}

/** The line may also import another module on demand, which imports the file. */
const isImportCallOf = (file: string, text = ''): boolean =>
  [...text.matchAll(/\bimport\s*\(([^)]*)/g)].some(([, wanted]) => wanted?.includes(lastName(file) || file));

function withoutExport(error: ErrorFacts): LoadFailure | undefined {
  const found = packageWithoutExport(error);
  if (!found) return undefined;
  return {
    title: `The package ${found.packageName} does not export ${found.asked}`,
    facts: [headlineOf(error)],
    steps: [
      `Compare the installed version of ${found.packageName} with the one that the code was written for.`,
    ],
  };
}

function other(error: ErrorFacts): LoadFailure {
  return {
    title: headlineOf(error),
    facts: [headlineOf(error)],
    steps: [
      error.code === 'ERR_DLOPEN_FAILED'
        ? 'Check that the system libraries that the addon names are installed, for this C library (glibc or musl) and this processor.'
        : `See the entry of ${error.code ?? 'the error'} in Node’s documentation of errors.`,
    ],
  };
}
