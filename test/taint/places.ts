/**
 * The places where a program has secrets, one row each: a text in which `{}` is replaced by the canary. Each canary is drawn
 * from a seed, of a kind that can be recognized in this place: by its shape (`key`, or `name` if it must be a valid file
 * name), or only by what is next to it (`opaque`, `password`, `words`).
 */
import { namedKinds, providerKinds } from '../support/secrets/secret-kinds.ts';
import { fillTemplate, SeededRandom } from '../support/synth/seeded-random.ts';

type Kind = 'key' | 'name' | 'opaque' | 'password' | 'words';

/** Place → kind of canary, and the text around it. */
export type Rows = Readonly<Record<string, readonly [kind: Kind, text: string]>>;

export const variables: Rows = {
  TAINT_API_KEY: ['key', '{}'],
  DB_PASSWORD: ['password', '{}'],
  PGPASSWORD: ['words', '{}'],
  SESSION_SECRET: ['opaque', '{}'],
  DATABASE_URL: ['opaque', 'postgres://app:{}@db.internal:5432/app'],
  ODBC: ['password', 'Server=db.internal;Uid=app;Password={};Encrypt=yes'],
  SETTINGS: ['password', '{"mail":{"password":"{}","host":"mail.internal"}}'],
  GREETING: ['key', 'hello from {}'],
  EXTRA_HEADERS: ['opaque', 'Authorization: Bearer {}'],
  PROXY: ['opaque', 'http://corp:{}@proxy.internal:3128'],
};

export const words: Rows = {
  'word after a flag': ['password', '--db-password\0{}'],
  'joined words after a flag': ['words', '--admin-password={}'],
  'word with a flag': ['opaque', '--token={}'],
  'word of an address': ['key', 'https://ci:{}@git.internal/agent.git'],
  'word alone': ['key', '{}'],
};

/** Names in a file system, which occur in bundle names, paths of frames and lists of packages. */
export const names: Rows = {
  folder: ['name', 'checkout-{}'],
  script: ['name', '{}.cjs'],
  package: ['name', 'plugin-{}'],
  file: ['name', '{}.js'],
};

/** Lines of the program's own source, near the place where it dies. */
export const source: Rows = {
  'literal under a name': ['password', "const dbPassword = '{}';"],
  'literal of joined words': ['words', "const adminPassword = '{}';"],
  'literal of a shape': ['key', "const greeting = 'use {} for it';"],
  'header in a literal': ['opaque', "const headers = { Authorization: 'Bearer {}' };"],
  'connection string': ['password', "const conn = 'Server=db;Uid=sa;password={};';"],
  'query in a literal': ['opaque', "const link = 'https://api.internal/v1?page=2&api_key={}';"],
  'address in a literal': ['opaque', "const cache = 'redis://:{}@cache.internal:6379/0';"],
  'fallback of a variable': ['opaque', "const fallback = process.env.TAINT_UNSET_TOKEN || '{}';"],
  comment: ['key', '// ask ops for {}'],
};

/** What the program has in its memory, prints, throws and receives, by the names that `plant` of program.cjs asks for. */
export const inside: Rows = {
  message: ['opaque', 'GET https://api.internal/v1/items?access_token={} answered 401'],
  messageKey: ['key', 'the key {} is revoked'],
  cause: ['opaque', 'connect failed: redis://:{}@cache.internal:6379'],
  causeOfCause: ['password', 'login failed for app with password={}'],
  propertyHeader: ['opaque', '{}'],
  propertyPassword: ['password', '{}'],
  propertyBody: ['opaque', '{"grant_type":"client_credentials","client_secret":"{}"}'],
  stackLine: ['name', 'load_{}'],
  aggregate: ['key', 'first {}'],
  localPassword: ['password', '{}'],
  localWords: ['words', '{}'],
  localToken: ['opaque', '{}'],
  localKey: ['key', '{}'],
  localHeader: ['opaque', 'Bearer {}'],
  configPassword: ['password', '{}'],
  connectionPassword: ['opaque', '{}'],
  connectionUrl: ['opaque', 'mysql://root:{}@db.internal/shop'],
  state: ['opaque', '{}'],
  stateMap: ['key', '{}'],
  provided: ['opaque', 'STRIPE_SECRET={}'],
  withheld: ['words', '{}'],
  runName: ['key', 'import with {}'],
  runConfig: ['opaque', '{}'],
  stepName: ['key', 'fetch {}'],
  toolArgument: ['opaque', '{}'],
  toolText: ['key', 'curl -H "x-api-key: {}" https://api.internal'],
  toolResult: ['opaque', 'export AUTH_TOKEN={}'],
  question: ['key', 'my key is {}, keep it'],
  answer: ['opaque', 'Authorization: Bearer {}'],
  note: ['key', 'with {}'],
  requestUrl: ['opaque', '/v1/chat/completions?api_key={}'],
  requestHeader: ['opaque', 'Bearer {}'],
  requestCookie: ['opaque', 'sid={}; theme=dark'],
  requestBody: ['password', 'log in with password: {}'],
  replyText: ['key', 'I have stored {} for you'],
  replyArgument: ['opaque', '{"access_token":"{}"}'],
  replyCookie: ['opaque', 'session={}; HttpOnly'],
  replyError: ['key', 'Incorrect API key provided: {}'],
  logOut: ['opaque', 'connected with token={}'],
  logError: ['key', 'warn: {} expires soon'],
  logRaw: ['password', 'password: {}'],
  warning: ['key', 'deprecated key {}'],
  childCommand: ['password', '--password={}'],
  childOutput: ['opaque', 'api_key={}'],
  title: ['key', 'worker {}'],
  weakMap: ['password', '{}'],
  mapKey: ['key', '{}'],
  symbol: ['key', '{}'],
  propertyName: ['key', '{}'],
  closure: ['key', '{}'],
  buffer: ['key', '{}'],
  encoded: ['opaque', 'app:{}'],
  functionName: ['name', 'call_{}'],
  className: ['name', 'Client_{}'],
  rejected: ['key', 'gave up with {}'],
  timer: ['key', '{}'],
  durableConfig: ['opaque', '{}'],
  durableToken: ['opaque', '{}'],
  durableKey: ['key', '{}'],
  durableArgument: ['password', '{}'],
};

/** Kinds whose first or last part is public, or that look like any other id without a name next to them. */
const needName = /mailgun new|mailchimp|webhook|telegram|azure|bcrypt|terraform|pem|jwt/i;
const keys = Object.entries(providerKinds).filter(([kind]) => !needName.test(kind));
/**
 * Only letters, digits and underscores, with a prefix that is also recognized within a word: an identifier may have such a
 * name.
 */
const nameKeys = keys.filter(([, template]) => /^\w{3,}_\{[AaUhd]\d\d\}$/.test(template));

const animals = [
  'tiger',
  'badger',
  'heron',
  'walrus',
  'falcon',
  'lemur',
  'otter',
  'bison',
  'gecko',
  'puffin',
];
const things = [
  'Window',
  'Ladder',
  'Kettle',
  'Barrel',
  'Candle',
  'Pebble',
  'Hammer',
  'Saddle',
  'Bucket',
  'Lantern',
];

function draw(kind: Kind, random: SeededRandom): string {
  if (kind === 'key') return fillTemplate(random.pick(keys)[1], random);
  if (kind === 'name') return fillTemplate(random.pick(nameKeys)[1], random);
  if (kind === 'opaque') return fillTemplate(namedKinds['alphanumeric 24'] ?? '', random);
  if (kind === 'password') return fillTemplate(namedKinds['strong password'] ?? '', random);
  return random.pick(animals) + random.pick(things) + random.pick(things);
}

export interface Taint {
  variables: Record<string, string>;
  words: Record<string, string>;
  names: Record<string, string>;
  source: Record<string, string>;
  inside: Record<string, string>;
  /** One key of each kind, separated by spaces. */
  providers: string;
  /** Each canary by its place. */
  canaries: ReadonlyMap<string, string>;
}

/** As in a line of a log or in a list, where only their shapes identify them. */
function plantAll(
  kinds: readonly [string, string][],
  random: SeededRandom,
  canaries: Map<string, string>,
): string {
  return kinds
    .map(([kind, template]) => {
      const canary = fillTemplate(template, random);
      canaries.set(`provider: ${kind}`, canary);
      return canary;
    })
    .join(' ');
}

/** `tables` replace the default ones. */
export function makeTaint(seed: number, tables: { inside: Rows; source: Rows } = { inside, source }): Taint {
  const random = new SeededRandom(seed);
  const canaries = new Map<string, string>();
  const plant = (group: string, rows: Rows): Record<string, string> => {
    const texts = Object.entries(rows).map(([place, [kind, text]]) => {
      const canary = draw(kind, random);
      canaries.set(`${group}: ${place}`, canary);
      return [place, text.replace('{}', () => canary)];
    });
    return Object.fromEntries(texts);
  };
  return {
    variables: plant('variable', variables),
    words: plant('argument', words),
    names: plant('name', names),
    source: plant('source', tables.source),
    inside: plant('inside', tables.inside),
    providers: plantAll(keys, random, canaries),
    canaries,
  };
}
