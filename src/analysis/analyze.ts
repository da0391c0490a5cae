/**
 * The account of a bundle: reads its parts, joins them into the model, and reaches verdict and signature. Whatever
 * can't be read becomes a gap; the only errors thrown are those of opening the bundle, which is not done here.
 */
import { type Account, accountSchema } from '../model/account.ts';
import type { Frame } from '../model/thread.ts';
import type { Gap } from '../model/verdict.ts';
import { type AnalyzableBundle, type BundleParts, readBundleParts } from './bundle-parts.ts';
import { type FrameReader, joinErrorFacts } from './joins/error-facts.ts';
import { joinPackages } from './joins/packages.ts';
import {
  joinEnvironmentFacts,
  joinMemoryFacts,
  joinProcessFacts,
  joinSignalFacts,
} from './joins/process-facts.ts';
import { addLocals, joinThreads } from './joins/threads.ts';
import { defined } from './parts/fields.ts';
import { computeSignature } from './signature.ts';
import { StackReconstructor } from './stacks/reconstruct.ts';
import type { VerdictFacts } from './verdict/facts.ts';
import { reachVerdict } from './verdict/reach-verdict.ts';

export interface AnalyzeOptions {
  /** Lines of code on each side of a frame's position; 2 unless said. */
  contextLines?: number;
}

/** Reads every part that it needs; the caller opens and closes the bundle. */
export async function analyzeBundle(
  bundle: AnalyzableBundle,
  options: AnalyzeOptions = {},
): Promise<Account> {
  const { parts, gaps } = readBundleParts(bundle);
  const stacks = await readStacks(bundle, parts, options, gaps);
  const process = joinProcessFacts(parts);
  const account: VerdictFacts['account'] = {
    schema: accountSchema,
    ...defined({
      bundle: joinBundle(bundle, parts),
      process,
      error: stacks.error,
      signal: joinSignalFacts(parts),
      threads: joinThreads(parts, stacks.error?.frames ?? stacks.exit),
      modules: joinModules(parts),
      agent: parts.agent && { runs: [], state: parts.agent.state },
      memory: joinMemoryFacts(parts),
      environment: joinEnvironmentFacts(parts, process),
    }),
    gaps: uniqueGaps([...bundle.gaps, ...gaps]),
  };
  const { error, ...facts } = parts;
  const verdict = reachVerdict({
    ...facts,
    account,
    promiseFrames: stacks.promise,
    ...defined({ thrownType: error?.error?.isError === false ? error.error.type : undefined }),
  });
  const signature = computeSignature({ ...account, verdict });
  return { ...account, verdict, ...defined({ signature }) };
}

/** Every stack of the bundle through one reconstructor, so that a map is opened once. */
async function readStacks(
  bundle: AnalyzableBundle,
  parts: BundleParts,
  options: AnalyzeOptions,
  gaps: Gap[],
) {
  const appRoot = parts.packages.find((p) => p.isProgram)?.path ?? parts.process?.cwd;
  const stacks = new StackReconstructor({
    scripts: parts.scripts,
    readPart: (name) => bundle.readPart(name),
    ...defined({ appRoot, contextLines: options.contextLines }),
  });
  const read: FrameReader = async (input) => {
    try {
      return await stacks.reconstruct(input);
    } catch (error) {
      gaps.push({ part: 'error.json', reason: `a stack could not be read: ${(error as Error).message}` });
      return [];
    }
  };
  try {
    const textFrames = async (stackText: string | undefined): Promise<Frame[]> =>
      stackText === undefined ? [] : read({ stackText });
    const error = await joinErrorFacts(parts, read, gaps);
    const frames = error?.frames && addLocals(error.frames, parts.locals);
    return {
      error: frames ? { ...error, frames } : error,
      exit: await textFrames(parts.trigger?.exitStack),
      promise: await textFrames(parts.error?.promiseStack),
    };
  } finally {
    gaps.push(...stacks.gaps);
    stacks.close();
  }
}

function joinBundle(bundle: AnalyzableBundle, { trigger }: BundleParts): Account['bundle'] {
  return {
    id: bundle.id,
    path: bundle.path,
    capturedAt: trigger?.at ?? bundle.head?.createdAt ?? '',
    sealed: bundle.sealed,
    parts: bundle.parts.map(({ name, bytes, sha256, complete }) => ({
      name,
      bytes,
      complete,
      ...defined({ sha256 }),
    })),
  };
}

function joinModules(parts: BundleParts): Account['modules'] {
  if (!parts.packages.length && !parts.nativeModules.length) return undefined;
  return { packages: joinPackages(parts), native: parts.nativeModules };
}

function uniqueGaps(gaps: readonly Gap[]): Gap[] {
  const seen = new Map(gaps.map((gap) => [`${gap.part}\n${gap.reason}\n${gap.lookedFor ?? ''}`, gap]));
  return [...seen.values()];
}
