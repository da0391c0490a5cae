/**
 * One death as a row of the index: made from an account, or from the file name if the bundle is encrypted and there is no
 * key. Texts are untrusted: they are shortened, and characters that PostgreSQL does not accept are removed. Pure.
 */
import { createHash } from 'node:crypto';
import { readBundleName } from '../../bundle/write/bundle-name.ts';
import type { Account } from '../../model/account.ts';
import { verdictKinds } from '../../model/verdict.ts';
import { readRelease } from './release.ts';

/** A row of the index; the fields are its columns. */
export interface Death {
  bundle: string;
  /** SHA-256 of the manifest, or of the encrypted file. */
  digest: string;
  blob: string;
  bytes: number;
  signature: string;
  version: number;
  parts: string[];
  /** The signature without its places in code, for one program; empty if nothing is left of it. */
  link: string;
  kind: string;
  title: string;
  at: string;
  program?: string;
  host?: string;
  node?: string;
  release?: string;
  commit_id?: string;
  environment?: string;
  agent?: string;
  /** The program whose start it ended, as that was counted by `agentdump run`; absent if nobody counted it. */
  started_as?: string;
  runs: number;
  /** Similar deaths just before it that the program only counted. */
  repeats: number;
}

type Stored = Pick<Death, 'bundle' | 'digest' | 'blob' | 'bytes'>;

/** Facts that are not in the account. */
export interface BundleFacts {
  program: string | undefined;
  repeats: unknown;
  startedAs?: string | undefined;
}

const longestWord = 200;
const mostParts = 50;
/** The upper limit of any count that a bundle claims. */
const mostCounted = 100_000;

export function deathOf(
  account: Account,
  stored: Stored,
  { program, repeats, startedAs }: BundleFacts,
  nowMs: number,
): Death {
  const { verdict, process, environment, agent } = account;
  const variables = environment?.variables ?? {};
  const nodeEnv = variables['NODE_ENV'];
  const { release, commit } = readRelease(account);
  const signature = account.signature ?? unexplained(program);
  return {
    ...stored,
    signature: signature.id,
    version: signature.version,
    parts: signature.parts.slice(0, mostParts).map((part) => clean(part, 1000)),
    link: linkOf(signature.parts, packageOf(account) ?? program),
    kind: verdict?.kind ?? 'unknown',
    title: clean(verdict?.title ?? 'A bundle that nothing explains'),
    at: timeOf(account.bundle?.capturedAt, nowMs),
    runs: Math.min(agent?.runs.length ?? 0, mostCounted),
    repeats: countOf(repeats),
    ...words({
      program,
      host: text(environment?.os?.['hostname']),
      node: process?.nodeVersion,
      release,
      commit_id: commit,
      environment: nodeEnv && 'value' in nodeEnv ? nodeEnv.value : undefined,
      agent: agent?.runs.find(({ name }) => name !== undefined)?.name,
      started_as: startedAs,
    }),
  };
}

/** For a bundle of which only the name can be read. */
export function sealedDeathOf(name: string, stored: Stored, nowMs: number, startedAs?: string): Death {
  const named = readBundleName(name);
  const kind = verdictKinds.find((one) => named?.words.endsWith(`-${one}`));
  const program = kind && named ? named.words.slice(0, -kind.length - 1) : undefined;
  const parts = ['sealed', ...(kind ? [`kind:${kind}`] : []), ...(program ? [`program:${program}`] : [])];
  return {
    ...stored,
    signature: hashOf(parts),
    version: 0,
    parts,
    link: '',
    kind: 'sealed',
    title: clean(kind ? `Encrypted bundles of ${program}: ${kind}` : 'Encrypted bundles without a name'),
    at: timeOf(named?.at, nowMs),
    runs: 0,
    repeats: 0,
    ...words({ program, started_as: startedAs }),
  };
}

const placePart = /^(?:frame|names|program):/;

/** Only for errors, whose message is specific, and exits, which have a code. */
function linkOf(parts: readonly string[], program: string | undefined): string {
  if (!parts.some((part) => /^(?:error|exit):/.test(part))) return '';
  return hashOf(['link', program ?? '', ...parts.filter((part) => !placePart.test(part))]);
}

/** The name of the program's own package. */
const packageOf = ({ modules }: Account): string | undefined =>
  modules?.packages.find(({ path }) => !path.includes('node_modules'))?.name;

function unexplained(program: string | undefined) {
  const parts = ['unexplained', ...(program ? [`program:${program}`] : [])];
  return { id: hashOf(parts), version: 0, parts };
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}

/** A clock may be wrong and a manifest forged: a time in the future counts as now. */
function timeOf(text: string | undefined, nowMs: number): string {
  const ms = Date.parse(text ?? '');
  const isPossible = ms > Date.UTC(2009, 0) && ms <= nowMs;
  return new Date(isPossible ? ms : nowMs).toISOString();
}

type Words = Partial<
  Pick<Death, 'program' | 'host' | 'node' | 'release' | 'commit_id' | 'environment' | 'agent' | 'started_as'>
>;

function words(values: { [Name in keyof Words]: string | undefined }): Words {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, clean(value)]],
  );
  return Object.fromEntries(entries);
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? Math.min(value, mostCounted) : 0;

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Without NUL characters and unpaired surrogates. */
export function clean(value: string, longest = longestWord): string {
  return Array.from(value.slice(0, longest), (one) =>
    one === '\0' || /^[\ud800-\udfff]$/.test(one) ? '\ufffd' : one,
  ).join('');
}
