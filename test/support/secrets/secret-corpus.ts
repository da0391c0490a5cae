/**
 * A labelled corpus generated from a seed: secrets in the places where programs leave them, and look-alikes that must be
 * kept. Independent of the rules in src: formats and names are restated from the documentation of providers and tools.
 * Contains no secret: every value is generated at run time.
 */

import { fillTemplate, letters, type Random, SeededRandom } from '../synth/seeded-random.ts';
import { namedKinds, providerKinds } from './secret-kinds.ts';
import { lookAlikes } from './secret-look-alikes.ts';

export type CorpusClass = 'plain' | 'context' | 'encoded' | 'cut' | 'context-only' | 'known' | 'look-alike';

export interface CorpusItem {
  class: CorpusClass;
  /** Kind of secret and form of its place, for the list of misses. */
  label: string;
  text: string;
  /** What must not be readable in the output; empty for look-alikes. */
  secret: string;
  known?: string[];
}

type Place = (secret: string, random: Random) => string;

/** Places that give no hint about the value. */
const bareplaces: Record<string, Place> = {
  alone: (s) => s,
  'log line': (s) => `2026-11-21T03:04:05Z INFO client connected with ${s} after 12ms`,
  'JSON string': (s) => JSON.stringify({ level: 'info', msg: `using ${s} now`, ok: true }),
  'JSON behind a line break': (s) => JSON.stringify({ out: `first line\n${s}\nlast` }),
  'JSON in JSON': (s) => JSON.stringify({ body: JSON.stringify({ data: [s, 1] }) }),
  'single quotes': (s) => `client.connect('${s}', { retry: 3 });`,
  'in brackets': (s) => `retrying (${s}) in 5s`,
  'in a path': (s) => `GET /v1/${s}/items 404`,
  'in colour': (s) => `\u001b[32m${s}\u001b[0m`,
  'error message': (s) =>
    `Error: Incorrect API key provided: ${s}. You can find your key at https://example.com.`,
};

const secretNames = [
  'password',
  'passwd',
  'DB_PASSWORD',
  'dbPassword',
  'secret',
  'client_secret',
  'clientSecret',
  'CLIENT-SECRET',
  'api_key',
  'apiKey',
  'API_KEY',
  'x-api-key',
  'X-Api-Key',
  'apikey',
  'ApiKey',
  'token',
  'access_token',
  'accessToken',
  'ACCESS_TOKEN',
  'auth_token',
  'authToken',
  'refresh_token',
  'refreshToken',
  'private_key',
  'secret_key',
  'secretKey',
  'AWS_SECRET_ACCESS_KEY',
  'aws_secret_access_key',
  'encryption_key',
  'SIGNING_KEY',
  'OPENAI_API_KEY',
  'STRIPE_SECRET_KEY',
  'SECRET_KEY_BASE',
  'ACME_TOKEN',
  'npm_config__authToken',
  'SERVICE_API_KEY',
  'webhookSecret',
  'jwtSecret',
  'SESSION_SECRET',
  'redisPassword',
  'smtp_password',
  'userPassword',
  'masterKey',
  'account_key',
  'bearerToken',
  'credentials_secret',
]; // prettier-ignore

/** Names in front of values. A value must not contain characters that its form does not allow. */
const namedPlaces: Record<string, (name: string, s: string) => string> = {
  JSON: (n, s) => JSON.stringify({ id: 7, [n]: s, ok: true }),
  'pretty JSON': (n, s) => JSON.stringify({ a: { [n]: s }, b: 1 }, null, 2),
  'JSON in JSON': (n, s) => JSON.stringify({ body: JSON.stringify({ [n]: s, x: 1 }) }),
  'JSON thrice': (n, s) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ [n]: s }) }) }),
  'util.inspect': (n, s) => `{ id: 7, ${/-/.test(n) ? `'${n}'` : n}: '${s}', ok: true }`,
  'multi-line object': (n, s) =>
    `const config = {\n  host: 'db',\n  ${/-/.test(n) ? `'${n}'` : n}: "${s}",\n};`,
  YAML: (n, s) => `db:\n  host: localhost\n  ${n}: ${s}\n  port: 5432\n`,
  'quoted YAML': (n, s) => `db:\n  ${n}: "${s}"\n`,
  env: (n, s) => `HOST=localhost\n${n}=${s}\nPORT=80\n`,
  'quoted env': (n, s) => `export ${n}="${s}"\n`,
  header: (n, s) => `GET / HTTP/1.1\r\n${n}: ${s}\r\nAccept: */*\r\n`,
  query: (n, s) => `https://example.com/cb?user=7&${n}=${encodeURIComponent(s)}&x=1`,
  flag: (n, s) => `app --port 80 --${n} ${s} --verbose`,
  'flag with sign': (n, s) => `app --${n}=${s} --verbose`,
  'argument list': (n, s) => JSON.stringify(['app', `--${n}`, s, '--verbose']),
  assignment: (n, s) => `config.${n.replaceAll('-', '_')} = '${s}';`,
  'template literal': (n, s) => `const url = \`https://example.com/?${n}=${encodeURIComponent(s)}&x=\${x}\`;`,
  'template assignment': (n, s) => `let ${n.replaceAll('-', '_')} = \`${s}\`;`,
  logfmt: (n, s) => `time=03:04:05 level=info msg="started" ${n}=${s} pid=7`,
  'log with colon': (n, s) => `[worker] using ${n}: ${s}`,
  XML: (n, s) => `<config><${n}>${s}</${n}></config>`,
  'XML attribute': (n, s) => `<db ${n}="${s}" port="1"/>`,
  'name and value': (n, s) => JSON.stringify([{ name: n, value: s }]),
  'kubernetes env': (n, s) => `env:\n  - name: ${n}\n    value: "${s}"\n`,
  'Python call': (n, s) => `Client(${n.replaceAll('-', '_')}="${s}", timeout=3)`,
  'hash rocket': (n, s) => `{ :${n.replaceAll('-', '_')} => "${s}" }`,
  TOML: (n, s) => `[auth]\n${n} = "${s}"\n`,
  INI: (n, s) => `[auth]\n${n} = ${s}\n`,
  'log with JSON': (n, s) => `2026-11-21 INFO request {"${n}":"${s}","id":1}`,
  'connection string': (n, s) => `Server=db;Database=app;${n}=${s};Timeout=3`,
};

/** Places with a specific syntax. */
const specialPlaces: Record<string, Place> = {
  bearer: (s) => `Authorization: Bearer ${s}\r\n`,
  'bearer in curl': (s) => `curl -H "Authorization: Bearer ${s}" https://example.com`,
  'bearer in JSON': (s) => JSON.stringify({ headers: { authorization: `Bearer ${s}` } }),
  'raw headers': (s) => JSON.stringify(['Host', 'x', 'Authorization', `Bearer ${s}`]),
  basic: (s) => `Authorization: Basic ${Buffer.from(`user:${s}`).toString('base64')}`,
  cookie: (s) => `Cookie: theme=dark; sessionid=${s}; lang=en\r\n`,
  'set-cookie': (s) => `set-cookie: sid=${s}; Path=/; HttpOnly`,
  'URL password': (s) => `postgres://app:${encodeURIComponent(s)}@db.internal:5432/app`,
  'mongo URL': (s) =>
    `mongodb+srv://app:${encodeURIComponent(s)}@cluster0.abcde.mongodb.net/?retryWrites=true`,
  'redis URL': (s) => `redis://:${encodeURIComponent(s)}@cache:6379/0`,
  'git URL': (s) => `https://x-access-token:${encodeURIComponent(s)}@github.com/a/b.git`,
  'go dsn': (s) => `app:${s.replaceAll('/', '_')}@tcp(db:3306)/app?parseTime=true`,
  'curl user': (s) => `curl -u admin:${s} https://example.com/`,
  netrc: (s) => `machine example.com login bob password ${s}`,
  npmrc: (s) => `//registry.example.com/:_authToken=${s}\nalways-auth=true`,
  pgpass: (s) => `db.internal:5432:app:bob:${s.replaceAll(':', '_')}`,
  'docker config': (s) =>
    JSON.stringify({ auths: { 'ghcr.io': { auth: Buffer.from(`bob:${s}`).toString('base64') } } }),
  kubeconfig: (s) => `users:\n- name: admin\n  user:\n    token: ${s}\n`,
  'presigned AWS': (s) =>
    `https://b.s3.amazonaws.com/k?X-Amz-Credential=AKIA0&X-Amz-Expires=60&X-Amz-Signature=${encodeURIComponent(s)}`,
  'azure SAS': (s) =>
    `https://a.blob.core.windows.net/c?sv=2022-11-02&se=2026-01-01&sig=${encodeURIComponent(s)}`,
  'azure account': (s) =>
    `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${s};EndpointSuffix=core.windows.net`,
  'oauth code': (s) => `GET /callback?code=${encodeURIComponent(s)}&state=7 302`,
  'ORM error': (s) =>
    `duplicate key value violates unique constraint: Key (api_token)=(${s}) already exists.`,
  'SQL user': (s) => `CREATE USER bob IDENTIFIED BY '${s.replaceAll("'", '')}';`,
  'spoken password': (s) => `login failed: password is ${s}`,
  'spoken token': (s) => `using token ${s} for user 7`,
};

interface Encoding {
  encode: (secret: string) => string;
  /** The piece of the encoded text that is enough to reveal the secret. */
  reveals: (secret: string, encoded: string) => string;
}

const middle = (_: string, encoded: string): string =>
  encoded.slice(Math.floor(encoded.length * 0.35), Math.floor(encoded.length * 0.65));
const secretItself = (secret: string): string => secret;

function encodings(random: Random): Record<string, Encoding> {
  const pad = 'x'.repeat(random.below(3));
  const perUnit = (s: string, lead: string, width: number): string =>
    [...s].map((c) => lead + c.charCodeAt(0).toString(16).padStart(width, '0')).join('');
  return {
    base64: { encode: (s) => Buffer.from(s).toString('base64'), reveals: middle },
    'base64 in text': {
      encode: (s) => Buffer.from(`{"id":"${pad}","password":"${s}"}`).toString('base64'),
      reveals: middle,
    },
    base64url: { encode: (s) => Buffer.from(`api_key=${s}&x=1`).toString('base64url'), reveals: middle },
    hex: { encode: (s) => Buffer.from(s).toString('hex'), reveals: middle },
    'percent sign by sign': { encode: (s) => perUnit(s, '%', 2), reveals: middle },
    'query in query': {
      encode: (s) =>
        `https://a.example/?next=${encodeURIComponent(`https://b.example/?access_token=${s}&y=1`)}`,
      reveals: (s) => encodeURIComponent(s),
    },
    'unicode escapes': { encode: (s) => perUnit(s, '\\u', 4), reveals: middle },
    'hex escapes': { encode: (s) => perUnit(s, '\\x', 2), reveals: middle },
    'XML entities': {
      encode: (s) => `<a password="${s}">`.replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
      reveals: secretItself,
    },
    'printed buffer': {
      encode: (s) => `<Buffer ${Buffer.from(s).toString('hex').replace(/../g, '$& ').slice(0, 149).trim()}>`,
      reveals: middle,
    },
    'JSON buffer': { encode: (s) => JSON.stringify(Buffer.from(s)), reveals: middle },
    'JSON four times': {
      encode: (s) => JSON.stringify(JSON.stringify(JSON.stringify(JSON.stringify({ secret: s })))),
      reveals: secretItself,
    },
  };
}

/** Every item of every class, `rounds` times with different values. */
export function makeCorpus(seed: number, rounds = 1): CorpusItem[] {
  const random = new SeededRandom(seed);
  const items: CorpusItem[] = [];
  for (let round = 0; round < rounds; round++) {
    addPlain(items, random);
    addContext(items, random);
    addEncodedAndCut(items, random);
    addKnown(items, random);
    addKeys(items, random);
    for (const [label, text] of lookAlikes(random))
      items.push({ class: 'look-alike', label, text, secret: '' });
  }
  return items;
}

function addPlain(items: CorpusItem[], random: Random): void {
  const places = Object.entries(bareplaces);
  for (const [kind, template] of Object.entries(providerKinds))
    for (let n = 0; n < 3; n++) {
      const secret = fillTemplate(template, random);
      const [form, place] = places[random.below(places.length)]!;
      // Without a name these two look like any other id.
      if (/^mailgun new|^mailchimp/.test(kind)) continue;
      items.push({ class: 'plain', label: `${kind} / ${form}`, text: place(secret, random), secret });
    }
}

/** False if the value contains a character that would end it in this form, or would have to be quoted. */
function fits(form: string, secret: string): boolean {
  if (/^(?:logfmt|log with colon|flag|INI|YAML|connection)/.test(form)) return !/[#!=]/.test(secret);
  return form !== 'env' || !/#/.test(secret);
}

function addContext(items: CorpusItem[], random: Random): void {
  const kinds = Object.entries({ ...namedKinds, ...providerKinds });
  for (const [form, place] of Object.entries(namedPlaces))
    for (const name of secretNames) {
      const [kind, template] =
        kinds[random.below(random.below(2) ? Object.keys(namedKinds).length : kinds.length)]!;
      const secret = fillTemplate(template, random);
      if (!fits(form, secret)) continue;
      const isUnknown = kind in namedKinds;
      items.push({
        class: isUnknown ? 'context-only' : 'context',
        label: `${name} = ${kind} / ${form}`,
        text: place(name, secret),
        secret,
      });
    }
  for (const [form, place] of Object.entries(specialPlaces))
    for (const [kind, template] of Object.entries(namedKinds)) {
      if (form === 'oauth code' && /short|strong|dashed/.test(kind)) continue;
      if (/spoken|pgpass|go dsn/.test(form) && /dashed|strong|uuid|hex/.test(kind)) continue;
      if (/azure|presigned/.test(form) && !/base64|hex 64/.test(kind)) continue;
      if (/bearer|raw headers/.test(form) && /password/.test(kind)) continue;
      const secret = fillTemplate(template, random);
      items.push({ class: 'context', label: `${kind} / ${form}`, text: place(secret, random), secret });
    }
}

function addEncodedAndCut(items: CorpusItem[], random: Random): void {
  for (const [kind, template] of Object.entries(providerKinds)) {
    if (/webhook|mailgun new|mailchimp|telegram|azure|bcrypt|terraform/.test(kind)) continue;
    const [form, { encode, reveals }] = random.pick(Object.entries(encodings(random)));
    const secret = fillTemplate(template, random);
    const encoded = encode(secret);
    items.push({
      class: 'encoded',
      label: `${kind} / ${form}`,
      text: `payload ${encoded} end`,
      secret: reveals(secret, encoded),
    });
    const whole = fillTemplate(template, random);
    const cut = whole.slice(0, Math.max(24, Math.floor(whole.length * 0.6)));
    items.push({ class: 'cut', label: `${kind} / tail cut`, text: `msg="connect with ${cut}`, secret: cut });
    const name = random.pick(secretNames);
    const tail = whole.slice(Math.floor(whole.length * 0.4));
    items.push({
      class: 'cut',
      label: `${kind} / head cut after ${name}`,
      text: `{"${name}":"${tail}"}`,
      secret: tail,
    });
  }
}

function addKnown(items: CorpusItem[], random: Random): void {
  for (const [kind, template] of Object.entries(namedKinds))
    for (const [form, encode] of Object.entries({ plain: (s: string) => s, ...knownEncodings })) {
      const secret = fillTemplate(template, random);
      const encoded = encode(secret);
      items.push({
        class: 'known',
        label: `${kind} / ${form}`,
        text: `seen ${encoded} here`,
        secret: /base64|hex/.test(form) ? middle(secret, encoded) : secret,
        known: [secret],
      });
    }
}

const knownEncodings: Record<string, (s: string) => string> = {
  JSON: (s) => JSON.stringify({ a: s }),
  base64: (s) => Buffer.from(s).toString('base64'),
  'base64 at 1': (s) => Buffer.from(`a${s}bc`).toString('base64'),
  'base64 at 2': (s) => Buffer.from(`ab${s}c`).toString('base64'),
  percent: (s) => encodeURIComponent(s),
  hex: (s) => Buffer.from(s).toString('hex'),
  'in a word': (s) => `https://h/${s}/x`,
};

function addKeys(items: CorpusItem[], random: Random): void {
  const kinds = [
    'RSA PRIVATE KEY',
    'PRIVATE KEY',
    'EC PRIVATE KEY',
    'OPENSSH PRIVATE KEY',
    'PGP PRIVATE KEY BLOCK',
  ];
  for (const kind of kinds) {
    const lines = Array.from({ length: 12 }, () => random.text(64, letters.b));
    const begin = `-----BEGIN ${kind}-----`;
    const body = `${begin}\n${lines.join('\n')}\n-----END ${kind}-----`;
    const secret = lines[5]!;
    const add = (c: CorpusClass, form: string, text: string): void => {
      items.push({ class: c, label: `${kind} / ${form}`, text, secret });
    };
    add('plain', 'file', `${body}\n`);
    add('plain', 'JSON', JSON.stringify({ type: 'service_account', private_key: body }));
    add('plain', 'env', `KEY="${body.replaceAll('\n', '\\n')}"`);
    add('plain', 'JSON in JSON', JSON.stringify(JSON.stringify({ pem: body })));
    add(
      'plain',
      'joined in source',
      `const k = ${body
        .split('\n')
        .map((l) => `'${l}\\n'`)
        .join(' +\n  ')};`,
    );
    add('cut', 'tail cut', body.slice(0, 600));
    add('cut', 'head cut', body.slice(100));
    const encoded = Buffer.from(body).toString('base64');
    items.push({ class: 'encoded', label: `${kind} / base64`, text: encoded, secret: middle('', encoded) });
  }
}
