/**
 * A store behind a service, `https://host/`, with the token of AGENTDUMP_STORE_TOKEN. The service checks and analyzes what it
 * is sent. An upload that was cut is continued where it ended, also by another process.
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { packedName, packOpenBundle } from '../../bundle/finished/pack.ts';
import type { ProgramOf } from '../../bundle/keep/starts.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { unwritable } from '../../bundle/write/safe-folder.ts';
import { failureCode } from '../../bundle/write/system.ts';
import { AgentdumpError } from '../../errors.ts';
import type { IssueStory, SendOutcome, SentBundle } from '../../model/fleet/issue.ts';
import { type FleetStore, type FoundBundle, mostFailures } from '../fleet-store.ts';
import { clean } from '../grouping/death.ts';
import {
  hashOf,
  isEncrypted,
  judge,
  mostBundleBytes,
  Refusal,
  requireWhole,
  sessionOf,
} from '../sending/examine.ts';
import { ServiceClient } from './client.ts';
import {
  type DecidedAnswer,
  type IssuesAnswer,
  isDecidedAnswer,
  isIssuesAnswer,
  isStory,
  isUploadAnswer,
  type Offer,
  offsetHeader,
  paths,
  type StartsReport,
  type UploadAnswer,
} from './protocol.ts';

/** How long bundles may have to wait for the starts, which can be told the next time. */
const startsMs = 5_000;
/** So that a request stays below `mostJsonBytes`. */
const mostStartsAtOnce = 50;
/** How often an upload that was cut is continued before the sender gives up. */
const mostCuts = 5;
/** How long to wait for the examination of an upload, which may have to wait for others. */
const examinationMs = 60 * 60_000;

/** Throws `usage` for an invalid address or a missing token. */
export function openRemoteStore(place: string, token = process.env['AGENTDUMP_STORE_TOKEN']): FleetStore {
  const base = baseOf(place);
  if (!token)
    throw new AgentdumpError('usage', `${base} needs a token: set AGENTDUMP_STORE_TOKEN`, {
      argument: 'AGENTDUMP_STORE_TOKEN',
    });
  const client = new ServiceClient(base, token);
  const copies: string[] = [];
  const issuePath = (id: string) => `${paths.issues}/${encodeURIComponent(id)}`;
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentdump-remote-'));
    copies.push(folder);
    return folder;
  };
  return {
    place: base,
    async send(bundles, { keys, programOf, onSent } = {}) {
      if (keys)
        throw new AgentdumpError('usage', 'a service takes encrypted bundles as they are: without a key', {
          argument: 'identity',
        });
      const sent: SentBundle[] = [];
      const failures: unknown[] = [];
      for (const path of bundles)
        try {
          const one = { path, ...(await sendOne(client, path, programOf)) };
          sent.push(one);
          onSent?.(one);
        } catch (error) {
          failures.push(error);
          if (!isOfOne(error) || failures.length > mostFailures) break;
        }
      if (failures.length > 0) throw failures[0];
      return sent;
    },
    async countStarts(starts) {
      const until = Date.now() + startsMs;
      let refusal: unknown;
      for (let begin = 0; begin < starts.length; begin += mostStartsAtOnce) {
        const json: StartsReport = { starts: starts.slice(begin, begin + mostStartsAtOnce) };
        try {
          await client.ask(paths.starts, { method: 'POST', json, withinMs: Math.max(1, until - Date.now()) });
        } catch (error) {
          if (!(error instanceof AgentdumpError)) throw error;
          // A service of an earlier version has no place for them.
          if (error.details['status'] === 404) return;
          // It has counted the others of this request.
          if (error.code !== 'usage' || error.details['argument'] !== undefined) throw error;
          refusal ??= error;
        }
      }
      if (refusal) throw refusal;
    },
    // The service does this after each bundle.
    settle: async () => {},
    async list({ all = false } = {}) {
      const path = `${paths.issues}${all ? '?all=1' : ''}`;
      return (await client.askJson<IssuesAnswer>(path, isIssuesAnswer)).issues;
    },
    countOutdated: async () => (await client.askJson<IssuesAnswer>(paths.issues, isIssuesAnswer)).outdated,
    async show(id, { mostDeaths = 20 } = {}) {
      const story = await client.askJson<IssueStory>(`${issuePath(id)}?deaths=${mostDeaths}`, isStory);
      const deaths = story.deaths.map(({ path, ...death }) =>
        path === undefined ? death : { ...death, path: new URL(path, base).href },
      );
      return { ...story, deaths };
    },
    async decide({ id, ...decision }) {
      const asking = { method: 'POST', json: decision } as const;
      return (await client.askJson<DecidedAnswer>(issuePath(id), isDecidedAnswer, asking)).issues;
    },
    async reprocess() {
      throw new AgentdumpError(
        'usage',
        'reprocess reads every bundle: run it where the store of the service is',
        {
          argument: 'store',
        },
      );
    },
    async fetch(bundle, output) {
      const { response, name } = await askBundle(client, bundle);
      const path = resolve(output ?? name);
      await saveTo(path, response);
      return path;
    },
    async find(bundle): Promise<FoundBundle | undefined> {
      try {
        const { response, name, issue, at } = await askBundle(client, bundle);
        const path = join(newFolder(), name);
        await saveTo(path, response);
        return { path, name, issue, at };
      } catch (error) {
        if (error instanceof AgentdumpError && error.code === 'not-found') return undefined;
        throw error;
      }
    },
    async close() {
      for (const copy of copies) rmSync(copy, { recursive: true, force: true });
    },
  };
}

function baseOf(place: string): string {
  const url = URL.canParse(place) ? new URL(place) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search)
    throw new AgentdumpError('usage', 'a service is named by its address alone: https://host/', {
      argument: 'store',
    });
  return url.href.replace(/\/*$/, '/');
}

async function sendOne(
  client: ServiceClient,
  path: string,
  programOf: ProgramOf | undefined,
): Promise<SendOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-packed-'));
  try {
    return await sendFile(client, await prepare(path, folder, programOf));
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', because: error.message };
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Refusal, and problems of the service. */
async function sendFile(client: ServiceClient, { file, offer }: Prepared): Promise<SendOutcome> {
  for (let cuts = 0; ; cuts++) {
    const answer = await client.askJson<UploadAnswer>(paths.offers, isUploadAnswer, {
      method: 'POST',
      json: offer,
    });
    if (!('offset' in answer)) return answer;
    try {
      return await upload(client, file, offer, answer.offset);
    } catch (error) {
      if (!isCut(error) || cuts === mostCuts) throw error;
      await new Promise((wake) => setTimeout(wake, 200 * 2 ** cuts));
    }
  }
}

/** The service fails at this bundle, and perhaps not at the next ones, which are sent too until `mostFailures` have failed. */
function isOfOne(error: unknown): boolean {
  return (
    error instanceof AgentdumpError && (error.code === 'malformed-input' || error.details['status'] === 500)
  );
}

/** Also if the service has more or less of it than it said, because another sender has uploaded it meanwhile. */
function isCut(error: unknown): boolean {
  if (!(error instanceof AgentdumpError)) return false;
  const { code, details } = error;
  return (
    details['temporary'] === true ||
    code === 'held' ||
    (code === 'usage' && details['argument'] === undefined)
  );
}

interface Prepared {
  file: string;
  offer: Offer;
}

/** @param folder for a packed copy. */
async function prepare(path: string, folder: string, programOf: ProgramOf | undefined): Promise<Prepared> {
  const name = basename(path);
  const describe = (file: string, session: string | undefined): Offer => {
    const startedAs = programOf?.({ name, session });
    const facts = { sha256: hashOf(file), bytes: statSync(file).size, name };
    return { ...facts, ...(startedAs !== undefined && { startedAs: clean(startedAs) }) };
  };
  if (isEncrypted(path, mostBundleBytes)) return { file: path, offer: describe(path, undefined) };
  const bundle = await judge(() => openBundle(path));
  try {
    const digest = await judge(() => requireWhole(bundle, mostBundleBytes));
    // The same name gives the same bytes, so that an upload can be continued.
    const file = bundle.packed ? path : join(folder, packedName(path));
    if (!bundle.packed) await judge(() => packOpenBundle(bundle, file));
    return { file, offer: { ...describe(file, sessionOf(bundle)), bundle: bundle.id, digest } };
  } finally {
    bundle.close();
  }
}

/** Returns when the service knows what the upload is. */
async function upload(
  client: ServiceClient,
  file: string,
  offer: Offer,
  begin: number,
): Promise<SendOutcome> {
  const query = new URLSearchParams({
    bytes: String(offer.bytes),
    name: offer.name,
    ...(offer.startedAs !== undefined && { startedAs: offer.startedAs }),
  });
  const until = Date.now() + examinationMs;
  for (let offset = begin; ; ) {
    const answer = await client.askJson<UploadAnswer>(
      `${paths.uploads}${offer.sha256}?${query}`,
      isUploadAnswer,
      {
        method: 'PUT',
        headers: { [offsetHeader]: String(offset) },
        ...(offset < offer.bytes && { body: () => createReadStream(file, { start: offset }) }),
      },
    );
    if (!('offset' in answer)) return answer;
    if (answer.offset !== offer.bytes || Date.now() > until)
      throw unwritable(client.base, 'the upload was not examined');
    offset = answer.offset;
  }
}

async function askBundle(client: ServiceClient, bundle: string) {
  const response = await client.ask(`${paths.bundles}${encodeURIComponent(bundle)}`);
  const { headers } = response;
  const name = headers.get('x-agentdump-name') ?? '';
  // The name becomes a file here.
  if (!/^[\w-][\w.-]{0,200}$/.test(name))
    throw new AgentdumpError('malformed-input', 'the service sent a bundle without a usable name', {
      format: 'service',
      field: 'x-agentdump-name',
    });
  return {
    response,
    name,
    issue: headers.get('x-agentdump-issue') ?? '',
    at: headers.get('x-agentdump-at') ?? '',
  };
}

/** Leaves no incomplete file. */
async function saveTo(path: string, response: Response): Promise<void> {
  const wanted = Number(response.headers.get('content-length'));
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  try {
    await pipeline(body, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (failureCode(error) !== 'EEXIST') rmSync(path, { force: true });
    throw unwritable(path, failureCode(error), error);
  }
  const { size } = statSync(path);
  if (size === wanted) return;
  rmSync(path, { force: true });
  throw unwritable(path, `${size} of ${wanted} bytes came`);
}
