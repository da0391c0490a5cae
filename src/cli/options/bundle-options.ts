/** Options that several commands share: which bundle, in which folder, opened with which key; and sizes in human notation. */
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { findBundle } from '../../bundle/finished/list.ts';
import type { openBundle } from '../../bundle/read/reader.ts';
import { AgentdumpError } from '../../errors.ts';
import { dumpFolder } from './dump-folder.ts';

export const bundlePositional = {
  describe: '"latest", a path, or a name or id prefix of a bundle in --dir',
  type: 'string',
  demandOption: true,
} as const;

/** The description of `--html` in every command that has it. */
export const htmlOption = {
  type: 'string',
  requiresArg: true,
  describe: 'Write a self-contained HTML page to this file (- for stdout)',
} as const;

export const dirOption = {
  describe: 'Dump folder',
  type: 'string',
  default: dumpFolder(),
  defaultDescription: 'AGENTDUMP_DIR, or ./.agentdump',
} as const;

/** Keys for an encrypted bundle. A passphrase is never passed on the command line, which every user can list. */
export const keyOptions = {
  identity: {
    describe: 'File with the age identity (private key) for an encrypted bundle',
    type: 'string',
  },
  'passphrase-file': {
    describe: 'File with the passphrase; default: AGENTDUMP_PASSPHRASE',
    type: 'string',
  },
} as const;

/** For a command that creates or removes something: prints what it did, as data. */
export const jsonOption = { type: 'boolean', describe: 'Print JSON' } as const;

export const outputOption = (describe: string) =>
  ({ alias: ['o', 'out'], type: 'string', describe }) as const;

export interface BundleWords {
  bundle: string;
  dir: string;
  identity?: string | undefined;
  passphraseFile?: string | undefined;
}

/** For a command that creates a file or folder from a bundle. */
export interface MakingWords extends BundleWords {
  output?: string | undefined;
  json?: boolean | undefined;
}

/** The default folder of the report of `agentdump ci`. */
export const reportFolder = 'agentdump-report';

/**
 * The path of the requested bundle: in the folder, and where that is the default, also in the report that a test run left
 * here; `latest` is the newest of both. Throws `not-found`, naming the folder.
 */
export function pathOf({ bundle, dir }: Pick<BundleWords, 'bundle' | 'dir'>): string {
  const found: string[] = [];
  let refusal: unknown;
  const isDefault = resolve(dir) === resolve(dirOption.default);
  for (const folder of isDefault ? [dir, reportFolder] : [dir])
    try {
      found.push(findBundle(bundle, folder));
    } catch (error) {
      if (error instanceof AgentdumpError && error.details['isAmbiguous']) throw error;
      refusal ??= error;
    }
  if (!found.length) throw refusal;
  const [own, reported = own] = found as [string, string?];
  // Names of bundles begin with the time of death.
  return bundle === 'latest' && basename(reported) > basename(own) ? reported : own;
}

export type Keys = NonNullable<Parameters<typeof openBundle>[1]>;

/** Keys for an encrypted bundle; undefined without a key. Throws `usage` for a file that contains none. */
export async function keysOf({
  identity,
  passphraseFile,
}: Pick<BundleWords, 'identity' | 'passphraseFile'>): Promise<Keys | undefined> {
  const passphrase = passphraseFile ? readPassphrase(passphraseFile) : process.env['AGENTDUMP_PASSPHRASE'];
  if (identity === undefined && !passphrase) return undefined;
  const { readIdentities } = await import('../../bundle/read/age.ts');
  const identities = identity === undefined ? [] : readIdentities(readFileSync(identity, 'utf8'));
  return { identities, ...(passphrase && { passphrase }) };
}

/** Its first line, as age reads one from a terminal. */
export function readPassphrase(file: string): string {
  const [line = ''] = readFileSync(file, 'utf8').split(/\r?\n/, 1);
  if (line === '')
    throw new AgentdumpError('usage', `${file} holds no passphrase`, { argument: 'passphrase-file' });
  return line;
}

const powers: Record<string, number> = { '': 0, K: 1, M: 2, G: 3, T: 4 };

/** `500`, `500MB`, `2 GB`, `1.5GiB`: powers of 1,024. Throws `usage`. */
export function readSize(text: string, option: string): number {
  const [, figure, unit = ''] = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim()) ?? [];
  const bytes = Number(figure) * 1024 ** (powers[unit.toUpperCase()] ?? 0);
  if (figure === undefined || !Number.isSafeInteger(Math.round(bytes)))
    throw new AgentdumpError('usage', `--${option} is no size: ${text} (for example 500MB or 2GB)`, {
      argument: option,
    });
  return Math.round(bytes);
}

/** An integer of at least 1. Throws `usage`. */
export function readCountOption(value: string | number, option: string): number {
  const count = Number(value);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new AgentdumpError('usage', `--${option} is no count: ${value}`, { argument: option });
}
