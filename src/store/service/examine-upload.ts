/** What an uploaded file is: the death that it tells of, and whether a secret may be in it. Runs on a thread of its own. */
import { statSync } from 'node:fs';
import { analyzeBundle } from '../../analysis/analyze.ts';
import type { SecretEngine } from '../../analysis/secrets/engine.ts';
import { type SecretScan, scanBundle } from '../../analysis/secrets/scan-bundle.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { redact } from '../../redaction/index.ts';
import { clean, type Death, deathOf, sealedDeathOf } from '../grouping/death.ts';
import { factsOf, hashOf, isEncrypted, judge, Refusal, requireWhole } from '../sending/examine.ts';
import { blobOf, namesOfEncrypted } from '../sending/send.ts';

export interface Question {
  path: string;
  /** Its name where it was sent. */
  name: string;
  /** The program whose start it ended, if that was counted. */
  startedAs?: string;
  mostBytes: number;
}

export interface Told {
  death: Death;
  /** Why the bundle must not be kept: a secret is in it, or may be. */
  unfit?: string;
}

/** The limit of the search for secrets in a small bundle; that of the whole examination is twice as long (examiner.ts). */
const searchMs = 30_000;

export type Examined = Told | { refused: string };

/** Throws only for an error of ours. */
export async function examineUpload(question: Question, engine: SecretEngine): Promise<Examined> {
  try {
    if (isEncrypted(question.path, question.mostBytes)) return { death: sealedDeath(question) };
    return await readDeath(question, engine);
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}

function sealedDeath({ path, name, startedAs }: Question): Death {
  const digest = hashOf(path);
  const stored = { ...namesOfEncrypted(digest), digest, bytes: statSync(path).size };
  return sealedDeathOf(name, stored, Date.now(), startedAs);
}

async function readDeath({ path, startedAs, mostBytes }: Question, engine: SecretEngine): Promise<Examined> {
  const bundle = await judge(() => openBundle(path));
  try {
    const digest = await judge(() => requireWhole(bundle, mostBytes));
    const account = await judge(() => analyzeBundle(bundle));
    const stored = { bundle: bundle.id, digest, blob: blobOf(bundle.id, digest), bytes: statSync(path).size };
    const death = await judge(() => deathOf(account, stored, factsOf(bundle, startedAs), Date.now()));
    const unfit = whyUnfit(await scanBundle(bundle.source, engine, searchMs));
    return unfit === undefined ? { death } : { death: withoutSecrets(death), unfit };
  } finally {
    bundle.close();
  }
}

function whyUnfit({ finds, unsearched }: SecretScan): string | undefined {
  const [find] = finds;
  const more = finds.length > 1 ? ` and ${finds.length - 1} more` : '';
  if (find) return `which seems to contain a secret: ${find.part}:${find.line} (${find.rule})${more}`;
  const [part] = unsearched;
  return part && `which could not be searched for secrets: ${part.part}: ${part.reason}`;
}

/** Its texts are from the bundle, too. */
function withoutSecrets(death: Death): Death {
  const entries = Object.entries(death).map(([name, value]) => [name, redactTexts(value)]);
  return Object.fromEntries(entries) as Death;
}

const redactTexts = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(redactTexts);
  return typeof value === 'string' ? clean(redact(value), 1000) : value;
};
