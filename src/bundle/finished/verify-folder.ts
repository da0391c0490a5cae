/**
 * Verifies a dump folder: every bundle in the ledger must be there, as it was sealed, under the name that its writer gave
 * it, unless the ledger records that retention removed it. Bundles that are not in the ledger (never sealed, or copied from
 * elsewhere) are listed too. A single bundle is verified by verify.ts.
 */
import { basename, join, resolve } from 'node:path';
import { AgentdumpError } from '../../errors.ts';
import {
  bundleSuffix,
  encryptedSuffix,
  manifestName,
  packedSuffix,
  partialSuffix,
  partNames,
  progressName,
} from '../layout/bundle.ts';
import { ledgerName } from '../layout/ledger.ts';
import type { Keys } from '../read/age.ts';
import { type BundleReader, openBundle } from '../read/reader.ts';
import { bundleStem, readBundleName } from '../write/bundle-name.ts';
import { existsSync, failureCode, readdirSync, statSync } from '../write/system.ts';
import { noLedger, type Verification, verifyOpenBundle, withLedger } from './verify.ts';
import { type LedgerOptions, type LedgerVerification, verifyLedgerFile } from './verify-ledger.ts';

export type PlacedState =
  /** In the ledger, every part as it was sealed, under its own name. */
  | 'whole'
  /** A copy of a bundle that is in the folder whole and under its name. */
  | 'copy'
  /** Not here; the ledger records that retention removed it. */
  | 'removed'
  /** Never sealed, and therefore in no ledger: its writer was killed. */
  | 'torn'
  /** Not here, and nothing says why. */
  | 'gone'
  | 'renamed'
  /** Under the name of another bundle in the ledger. */
  | 'swapped'
  /** Parts or the manifest are missing; the rest is as it was sealed. */
  | 'incomplete'
  | 'altered'
  /** Sealed, but not in the ledger. */
  | 'unlisted'
  | 'locked'
  | 'unreadable';

export interface PlacedBundle {
  state: PlacedState;
  /** The name of the folder or file; unknown if it is gone. */
  name?: string;
  /** 16 hexadecimal digits; absent if unknown. */
  id?: string;
  /** What differs from the ledger, as a clause. */
  problem?: string;
}

type JudgedLedger = Omit<LedgerVerification, 'bundles' | 'removed'>;

export interface FolderVerification {
  path: string;
  /** whole: everything in the ledger is here. unknown: there is no ledger, or it can't be trusted. */
  verdict: 'whole' | 'not-whole' | 'unknown';
  /** The number of bundles in the ledger. */
  known: number;
  bundles: PlacedBundle[];
  ledger?: JudgedLedger;
  /** Why there is no ledger to compare with. */
  ledgerProblem?: string;
}

/** States that don't indicate that a bundle was removed, replaced or added. */
const fineStates = new Set<PlacedState>(['whole', 'copy', 'removed', 'torn']);

const isFine = ({ state }: PlacedBundle): boolean => fineStates.has(state);

/** True for a folder that contains bundles and is none itself. */
export function isDumpFolder(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  return readBundleName(basename(resolve(path))) === undefined && !holdsBundle(path);
}

/** Throws what verifyLedgerFile throws, and `not-found` if the folder can't be read. */
export function verifyFolder(
  dir: string,
  options: LedgerOptions & { keys?: Keys; ledger?: string } = {},
): FolderVerification {
  const ledgerPath = options.ledger ?? join(resolve(dir), ledgerName);
  const judged = verifyLedgerFile(ledgerPath, options);
  const trusted = judged?.verdict === 'tampered' ? undefined : judged;
  const found = namesWithin(dir).map((name) => new FoundBundle(join(dir, name), trusted, options.keys));
  const listed = found.filter((one) => one.isNamed || !one.unread);
  const places = new Places(listed, trusted);
  const bundles = [...listed.map((one) => places.judge(one)), ...places.missing()];
  return {
    path: resolve(dir),
    verdict: !trusted ? 'unknown' : bundles.every(isFine) ? 'whole' : 'not-whole',
    known: places.known.size,
    bundles,
    ...(judged ? { ledger: withoutLists(judged) } : { ledgerProblem: noLedger(ledgerPath) }),
  };
}

function withoutLists({ bundles, removed, ...ledger }: LedgerVerification): JudgedLedger {
  return ledger;
}

/** A folder or file that contains a bundle, or is named like one. */
class FoundBundle {
  readonly name: string;
  readonly isNamed: boolean;
  /** The id according to its name. */
  readonly namedId: string | undefined;
  readonly id: string | undefined;
  readonly verification: Verification | undefined;
  /** The name that its writer gave it, without the suffix. */
  readonly stem: string | undefined;
  /** Why it was not read. */
  readonly unread: { state: 'locked' | 'unreadable'; problem: string } | undefined;

  constructor(path: string, ledger: LedgerVerification | undefined, keys: Keys | undefined) {
    this.name = basename(path);
    this.namedId = readBundleName(this.name)?.shortId;
    this.isNamed = this.namedId !== undefined;
    let bundle: BundleReader | undefined;
    try {
      bundle = openBundle(path, keys);
      const verification = verifyOpenBundle(bundle);
      this.verification = ledger ? withLedger(verification, ledger) : verification;
      this.id = bundle.id;
      this.stem = stemOf(bundle);
    } catch (error) {
      const state = error instanceof AgentdumpError && error.code === 'locked' ? 'locked' : 'unreadable';
      this.unread = { state, problem: error instanceof Error ? error.message : String(error) };
    } finally {
      bundle?.close();
    }
  }

  get hasItsName(): boolean {
    const [given = ''] = this.name.split(bundleSuffix, 1);
    if (this.stem === undefined || given === this.stem) return true;
    // If two bundles would have the same name, the second gets a number.
    return given.startsWith(`${this.stem}-`) && /^\d+$/.test(given.slice(this.stem.length + 1));
  }
}

function stemOf({ head, id }: BundleReader): string | undefined {
  const { createdAt, program, verdictKind } = head;
  if (createdAt === undefined || program === undefined || verdictKind === undefined) return undefined;
  const atMs = Date.parse(createdAt);
  return Number.isNaN(atMs) ? undefined : bundleStem({ atMs, program, verdictKind, id });
}

/** Compares the folder with the ledger. */
class Places {
  /** Time of the seal, by id. */
  readonly known: ReadonlyMap<string, string>;
  readonly #found: readonly FoundBundle[];
  readonly #shortIds: ReadonlySet<string>;
  readonly #removed: ReadonlySet<string>;
  readonly #hasLedger: boolean;

  constructor(found: readonly FoundBundle[], ledger: LedgerVerification | undefined) {
    this.#found = found;
    this.#hasLedger = ledger !== undefined;
    this.known = new Map(ledger?.bundles.map(({ bundle, sealedAt }) => [bundle, sealedAt]));
    this.#shortIds = new Set([...this.known.keys()].map(shortOf));
    this.#removed = new Set(ledger?.removed.map((name) => readBundleName(name)?.shortId ?? ''));
  }

  judge(found: FoundBundle): PlacedBundle {
    const { name, id, unread, verification } = found;
    if (unread || !verification) return { state: 'unreadable', name, ...unread };
    const judged = this.#judgeContent(found, verification);
    return { name, ...(id !== undefined && { id }), ...judged };
  }

  /** Bundles in the ledger that are not in the folder. */
  missing(): PlacedBundle[] {
    return [...this.known]
      .filter(([id]) => !this.#found.some((one) => isOf(one, id)))
      .map(([id, sealedAt]) => {
        if (this.#removed.has(shortOf(id))) return { state: 'removed', id };
        const impostor = this.#found.find((one) => one.namedId === shortOf(id));
        const elsewhere = impostor ? `; ${impostor.name} has its name and is another` : '';
        return { state: 'gone', id, problem: `sealed ${sealedAt}, and nothing here has its id${elsewhere}` };
      });
  }

  #judgeContent(found: FoundBundle, verification: Verification): Pick<PlacedBundle, 'state' | 'problem'> {
    const { id = '', manifestSha256 } = verification;
    const sealedAt = this.known.get(id);
    const isThere = verification.parts.some((part) => part.name === manifestName);
    if (manifestSha256 === undefined && sealedAt !== undefined && !isThere)
      return {
        state: 'incomplete',
        problem: `it was sealed ${sealedAt}, and its ${manifestName} is not here`,
      };
    const damage = damageOf(verification);
    if (damage) return damage;
    if (manifestSha256 === undefined) return { state: 'torn' };
    if (!this.#hasLedger) return this.#judgeName(found);
    if (verification.ledger?.entry === 'differs')
      return { state: 'altered', problem: 'the ledger has it with another manifest' };
    if (verification.ledger?.entry === 'listed') return this.#judgeName(found);
    const isUnderOther = found.namedId !== undefined && this.#shortIds.has(found.namedId);
    return isUnderOther
      ? this.#swapped(found)
      : { state: 'unlisted', problem: 'the ledger does not have it' };
  }

  #judgeName(found: FoundBundle): Pick<PlacedBundle, 'state' | 'problem'> {
    if (found.hasItsName) return { state: 'whole' };
    if (this.#found.some((one) => one !== found && one.id === found.id && one.hasItsName))
      return { state: 'copy' };
    if (found.namedId !== shortOf(found.id ?? '') && this.#shortIds.has(found.namedId ?? ''))
      return this.#swapped(found);
    return { state: 'renamed', problem: `its writer called it ${found.stem}` };
  }

  #swapped({ id, namedId }: FoundBundle): Pick<PlacedBundle, 'state' | 'problem'> {
    return { state: 'swapped', problem: `it holds bundle ${id} under the name of ${namedId}…` };
  }
}

function shortOf(id: string): string {
  return id.slice(0, 8);
}

/** A bundle that can't be opened is identified by its name. */
function isOf(found: FoundBundle, id: string): boolean {
  return found.unread ? found.namedId === shortOf(id) : found.id === id;
}

function damageOf({ parts, extra }: Verification): Pick<PlacedBundle, 'state' | 'problem'> | undefined {
  const odd = parts.filter(({ state }) => state !== 'whole' && state !== 'unvouched');
  const isMissing = odd.length > 0 && odd.every(({ state }) => state === 'missing') && extra.length === 0;
  const named = [
    ...odd.map(({ name, state }) => `${name} is ${state}`),
    ...extra.map((name) => `${name} is no part of it`),
  ];
  if (named.length === 0) return undefined;
  const more = named.length > mostNamed ? `, and ${named.length - mostNamed} more` : '';
  return {
    state: isMissing ? 'incomplete' : 'altered',
    problem: named.slice(0, mostNamed).join(', ') + more,
  };
}

const mostNamed = 5;
const bundleSuffixes = new Set([bundleSuffix, partialSuffix, packedSuffix, encryptedSuffix]);

/** Names of bundles, and of anything that may be a bundle under another name. */
function namesWithin(dir: string): string[] {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch (error) {
    throw new AgentdumpError(
      'not-found',
      `${dir} can't be read: ${failureCode(error)}`,
      { path: dir },
      error,
    );
  }
  return names.sort().filter((name) => {
    const named = readBundleName(name);
    // A folder without a part was not a bundle yet, and one that is being removed no longer is.
    if (named) return bundleSuffixes.has(named.suffix);
    return /\.zip(?:\.age)?$/.test(name) || holdsBundle(join(dir, name));
  });
}

function holdsBundle(path: string): boolean {
  return [manifestName, progressName, partNames.trigger].some((name) => existsSync(join(path, name)));
}
