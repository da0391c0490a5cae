/**
 * Answers one request. Without a valid token nothing but the health is answered, and nothing is said about what exists. Every
 * answer is JSON, except a bundle.
 */
import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { AgentdumpError, type ErrorCode } from '../../errors.ts';
import type { SendOutcome } from '../../model/fleet/issue.ts';
import { findKeptBundle } from '../fetch-bundle.ts';
import type { FleetStore } from '../fleet-store.ts';
import { addStarts } from '../index/starts.ts';
import type { Store } from '../open-store.ts';
import { mostBundleBytes } from '../sending/examine.ts';
import { findOffered } from './admit.ts';
import type { Examinations } from './examinations.ts';
import { offsetHeader, paths, type RefusalCode, type Right, type UploadAnswer } from './protocol.ts';
import {
  type AskedUpload,
  readDecision,
  readJson,
  readOffer,
  readStartsReport,
  readUpload,
} from './read-request.ts';
import { claimUpload, findToken, type Token } from './tokens.ts';
import type { Announced, Uploads } from './uploads.ts';

export interface Service {
  store: Store;
  fleet: FleetStore;
  uploads: Uploads;
  examinations: Examinations;
  /** As `healthOf` returns it. */
  checkHealth(): Promise<void>;
  /** Told about what a user should see, such as an alert that could not be posted. */
  note(sentence: string): void;
}

/** With a status of HTTP that no error code of ours has. */
class Refused extends Error {
  readonly status: number;
  readonly code: RefusalCode;
  readonly headers: Record<string, string>;
  constructor(code: RefusalCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.status = statusOfRefusal[code];
    this.headers = headers;
  }
}

const discardMs = 1_000;

const statusOf: Partial<Record<ErrorCode, number>> = {
  usage: 400,
  'malformed-input': 400,
  'not-found': 404,
  'not-a-bundle': 404,
  'over-limit': 413,
  held: 409,
  unwritable: 503,
};

const statusOfRefusal: Record<RefusalCode, number> = {
  'bad-address': 400,
  'token-missing': 401,
  'token-invalid': 401,
  'not-allowed': 403,
  'no-such-address': 404,
  'limit-reached': 429,
  'no-room': 503,
};

/** A client may be at another place or of another version, and its log is read by people: the answer names the request. */
const longestNamed = 120;

export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  service: Service,
): Promise<void> {
  try {
    await route(request, response, service);
  } catch (error) {
    // The client is gone, or has half of an answer.
    if (response.socket?.destroyed !== false || response.headersSent) {
      response.destroy();
      return;
    }
    sendFailure(response, error, service);
  } finally {
    if (!request.complete) discardRest(request);
  }
}

/** What is wrong with the store, or in this program, is for its operator: it may name hosts and folders. */
function sendFailure(response: ServerResponse, error: unknown, { note }: Service): void {
  if (error instanceof Refused) {
    sendError(response, error.status, error.code, error.message, error.headers);
    return;
  }
  const status = (error instanceof AgentdumpError ? statusOf[error.code] : undefined) ?? 500;
  if (error instanceof AgentdumpError && status < 500) {
    sendError(response, status, error.code, error.message);
    return;
  }
  note(`a request failed: ${error instanceof Error ? error.message : String(error)}`);
  if (status === 503) sendError(response, status, 'unwritable', 'the store of the service does not answer');
  else sendError(response, status, 'internal', 'this failed');
}

/**
 * The rest of a body that was refused. It is not kept, and for a moment read nevertheless: a connection that is closed while its
 * client sends takes the answer with it.
 */
function discardRest(request: IncomingMessage): void {
  const late = setTimeout(() => request.destroy(), discardMs).unref();
  request.once('close', () => clearTimeout(late)).resume();
}

async function route(request: IncomingMessage, response: ServerResponse, service: Service): Promise<void> {
  const { method = 'GET' } = request;
  const address = `http://service${request.url}`;
  if (!URL.canParse(address)) throw new Refused('bad-address', `${nameOf(request)} has no valid address`);
  const { pathname, searchParams } = new URL(address);
  if (pathname === paths.health) return sendHealth(response, service);
  const token = await authorize(request, service.store);
  const asked = `${method} ${pathname}`;
  if (asked === `POST ${paths.offers}`) {
    requireRight(token, 'send', request);
    return sendJson(response, 200, await receiveOffer(request, token, service));
  }
  if (method === 'PUT' && pathname.startsWith(paths.uploads)) {
    requireRight(token, 'send', request);
    const offset = String(request.headers[offsetHeader] ?? 0);
    const asked = readUpload(pathname.slice(paths.uploads.length), searchParams, offset);
    return sendJson(response, 200, await receiveUpload(request, asked, token, service));
  }
  if (asked === `POST ${paths.starts}`) {
    requireRight(token, 'send', request);
    const { starts, refusal } = readStartsReport(await readJson(request));
    await addStarts(service.store.index, starts, { sender: token.name });
    if (refusal) throw refusal;
    return sendJson(response, 200, {});
  }
  if (asked === `GET ${paths.issues}`) {
    requireRight(token, 'read', request);
    const issues = await service.fleet.list({ all: searchParams.get('all') === '1' });
    return sendJson(response, 200, { issues, outdated: await service.fleet.countOutdated() });
  }
  if (pathname.startsWith(`${paths.issues}/`)) {
    const id = decode(pathname.slice(paths.issues.length + 1));
    requireRight(token, method === 'POST' ? 'manage' : 'read', request);
    if (method === 'GET') return sendStory(response, id, searchParams, service);
    if (method === 'POST') {
      const decision = readDecision(id, await readJson(request));
      return sendJson(response, 200, { issues: await service.fleet.decide(decision) });
    }
  }
  if (method === 'GET' && pathname.startsWith(paths.bundles)) {
    requireRight(token, 'read', request);
    return sendBundleFile(response, decode(pathname.slice(paths.bundles.length)), service);
  }
  throw new Refused(
    'no-such-address',
    `this service does not answer ${nameOf(request)}: check the address in AGENTDUMP_STORE, and that client and service have the same version of agentdump`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refused('bad-address', `${text.slice(0, longestNamed)} is not percent-encoded UTF-8`);
  }
}

async function sendHealth(response: ServerResponse, { checkHealth }: Service): Promise<void> {
  await checkHealth();
  sendJson(response, 200, { status: 'ok' });
}

async function authorize(request: IncomingMessage, store: Store): Promise<Token> {
  const secret = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const token = secret === undefined ? undefined : await findToken(store.index, secret);
  if (token) return token;
  const [code, what] =
    secret === undefined
      ? (['token-missing', 'has no token: send it as "Authorization: Bearer <token>"'] as const)
      : (['token-invalid', 'has a token that was never valid here, or has been revoked'] as const);
  const next = 'Where the store is, "agentdump serve token <name> --may send|read|manage" makes a token';
  throw new Refused(code, `${nameOf(request)} ${what}. ${next}`, { 'www-authenticate': 'Bearer' });
}

function requireRight({ may, name }: Token, wanted: Right, request: IncomingMessage): void {
  if (may === wanted || (may === 'manage' && wanted === 'read')) return;
  throw new Refused(
    'not-allowed',
    `the token ${name} may ${may}, and ${nameOf(request)} is for one that may ${wanted}. Where the store is, "agentdump serve token <name> --may ${wanted}" makes one`,
  );
}

/** Without the query, which may hold names. */
function nameOf({ method = 'GET', url = '' }: IncomingMessage): string {
  const [path = ''] = url.split('?', 1);
  return `${method} ${path.length > longestNamed ? `${path.slice(0, longestNamed)}…` : path}`;
}

/** An upload is counted when it begins, and not again when it continues. */
async function receiveOffer(
  request: IncomingMessage,
  token: Token,
  { store, uploads }: Service,
): Promise<UploadAnswer> {
  const offer = readOffer(await readJson(request));
  const { bytes } = offer;
  if (bytes > mostBundleBytes)
    return refuse(`it has ${bytes} bytes, more than the ${mostBundleBytes} that a store takes`);
  if (bytes > token.bytesPerHour)
    return refuse(
      `it has ${bytes} bytes, more than the ${token.bytesPerHour} that the token ${token.name} may upload in an hour`,
    );
  const known = await findOffered(store, offer);
  if (known) return known;
  const upload: Announced = { sender: token.name, ...offer };
  const offset = uploads.offsetOf(upload);
  if (offset !== undefined) return { offset };
  // Before it is counted, because a sender asks again for a while.
  if (!uploads.hasRoom(upload))
    throw new Refused('no-room', 'the service has no room for it: send it again later');
  if (!(await claimUpload(store.index, token, bytes)))
    throw new Refused('limit-reached', `the limit of the token ${token.name} for this hour is reached`, {
      'retry-after': String(3600 - (Math.floor(Date.now() / 1000) % 3600)),
    });
  return { offset: uploads.begin(upload) };
}

const refuse = (because: string): SendOutcome => ({ outcome: 'refused', because });

async function receiveUpload(
  request: IncomingMessage,
  { offset, name, startedAs, ...asked }: AskedUpload,
  token: Token,
  { uploads, examinations }: Service,
): Promise<UploadAnswer> {
  const upload: Announced = { sender: token.name, ...asked };
  if (!examinations.has(upload)) await uploads.receive(upload, offset, request);
  return examinations.ask(upload, { name, ...(startedAs !== undefined && { startedAs }) });
}

/** Where a bundle is in the store is of no use to a client. */
async function sendStory(
  response: ServerResponse,
  id: string,
  query: URLSearchParams,
  { fleet }: Service,
): Promise<void> {
  const wanted = Number(query.get('deaths') ?? 20);
  const mostDeaths = Number.isSafeInteger(wanted) && wanted > 0 ? Math.min(wanted, 10_000) : 20;
  const story = await fleet.show(id, { mostDeaths });
  const deaths = story.deaths.map(({ path, ...death }) =>
    path === undefined ? death : { ...death, path: `${paths.bundles}${death.bundle}` },
  );
  sendJson(response, 200, { ...story, deaths });
}

/** By the beginning of its id. Its headers say what the store knows of it. */
async function sendBundleFile(response: ServerResponse, word: string, { store }: Service): Promise<void> {
  const { blob, issue, at } = await findKeptBundle(store, word);
  const path = await store.blobs.read(blob);
  try {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': statSync(path).size,
      'x-agentdump-name': blob,
      'x-agentdump-issue': issue,
      'x-agentdump-at': at,
      'x-content-type-options': 'nosniff',
    });
    await pipeline(createReadStream(path), response);
  } finally {
    store.blobs.release(path);
  }
}

function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): void {
  sendJson(response, status, { error: { code, message } }, headers);
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Record<string, string> = {},
): void {
  const body = Buffer.from(JSON.stringify(value));
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    })
    .end(body);
}
