/**
 * Some forty secrets generated from a seed, placed where a program gets them: environment variables, arguments, its own
 * state, what it throws. None of them is stored anywhere. Also the search for them in the files that a run left.
 */

import { fillTemplate, SeededRandom } from '../synth/seeded-random.ts';
import { namedKinds, providerKinds } from './secret-kinds.ts';
import type { WrittenFile } from './written-files.ts';

export interface Plants {
  env: Record<string, string>;
  argv: string[];
  /** For the program, as JSON: see test/support/secrets/planter.cjs. */
  program: Record<string, unknown>;
  /** Name of a folder. */
  folder: string;
  /** The secrets by the place where they were planted. */
  secrets: Map<string, string>;
}

/** Kinds that look like any other id without a name beside them, and keys that are mostly public. */
const needName = /mailgun new|mailchimp|webhook|telegram|azure|bcrypt|terraform|pem|jwt/i;

export function makePlants(seed: number): Plants {
  const random = new SeededRandom(seed);
  const secrets = new Map<string, string>();
  const kinds = Object.entries(providerKinds).filter(([kind]) => !needName.test(kind));
  const note = (place: string, secret: string): string => {
    secrets.set(place, secret);
    return secret;
  };
  /** Has a provider's format: must be found anywhere. */
  const key = (place: string): string => {
    const [kind, template] = random.pick(kinds);
    return note(`${place}: ${kind}`, fillTemplate(template, random));
  };
  /** Has no format: is found by the name beside it, or because it is known. */
  const plain = (place: string): string =>
    note(place, fillTemplate(namedKinds['alphanumeric 24'] ?? '', random));
  const password = (place: string): string =>
    note(place, fillTemplate(namedKinds['short password'] ?? '', random));

  /** A key that is a valid file name. */
  const folderKey = (): string => {
    const [kind, template] = random.pick(kinds.filter(([, text]) => /^[\w.-]*\{[AaUhd]\d\d\}$/.test(text)));
    return note(`folder: ${kind}`, fillTemplate(template, random));
  };

  const env = {
    OPENAI_API_KEY: key('variable'),
    DB_PASSWORD: password('variable, short'),
    SESSION_SECRET: plain('variable, no shape'),
    DATABASE_URL: `postgres://app:${plain('variable, in a URL')}@db.internal:5432/app`,
    SETTINGS: JSON.stringify({ mail: { password: plain('variable, in JSON'), host: 'mail.internal' } }),
    GREETING: `hello from ${key('variable of an innocent name')}`,
    EXTRA_HEADERS: `Authorization: Bearer ${key('variable, in a header')}`,
  };
  const argv = [
    '--api-key',
    key('word after a flag'),
    `--password=${plain('word with a flag')}`,
    `https://ci:${key('word, in a URL')}@git.internal/agent.git`,
    key('word alone'),
  ];
  const program = {
    withheld: [plain('registered'), plain('registered, in a map')],
    state: {
      config: { apiKey: key('state'), db: { user: 'app', password: plain('state, by its name') } },
      headers: { authorization: `Bearer ${key('state, header')}`, cookie: `sid=${plain('state, cookie')}` },
      history: [
        { role: 'user', content: `my key is ${key('conversation')}, keep it` },
        { role: 'tool', content: JSON.stringify({ stdout: `export TOKEN=${key('tool result')}` }) },
      ],
      url: `https://api.internal/v1?access_token=${key('state, query')}&page=2`,
    },
    provided: { env: `STRIPE_KEY=${key('provided')}`, encoded: btoa(`user:${key('provided, in base64')}`) },
    strings: [
      key('string of a module'),
      key('string of a module, 2'),
      `x-api-key: ${key('string with a header')}`,
    ],
    error: {
      message: `401 from https://api.internal/?key=${key('message')}: ${key('message, 2')} is revoked`,
      properties: {
        config: {
          headers: { 'x-api-key': key('property, header') },
          auth: { password: plain('property, by its name') },
        },
        body: JSON.stringify({ client_secret: plain('property, JSON in text') }),
        argv: ['curl', '-H', `Authorization: Bearer ${key('property, list')}`],
      },
      cause: `connect failed: redis://:${plain('cause, in a URL')}@cache.internal:6379`,
      causeOfCause: `while reading ${key('cause of the cause')}`,
      errors: [`first ${key('aggregate')}`, `second password=${plain('aggregate, by its name')}`],
      stackLine: key('line of a stack'),
    },
    locals: {
      apiKey: key('local'),
      note: `use ${key('local, in text')}`,
      password: plain('local, by its name'),
    },
  };
  return { env, argv, program, folder: `checkout-${folderKey()}`, secrets };
}

const pieceChars = 10;

/** Pieces that would be enough to recognize a secret. Its public start and its last four characters may be visible. */
function piecesOf(secret: string): string[] {
  if (secret.length < 2 * pieceChars) return [secret];
  const start = Math.floor(secret.length / 3);
  return [...new Set([start, secret.length >> 1, Math.max(start, secret.length - 4 - pieceChars)])].map(
    (at) => secret.slice(at, at + pieceChars),
  );
}

/** `<place> in <file> (<reading>)` for each secret that can be read from a file, in any encoding. */
export function findPlants(files: readonly WrittenFile[], secrets: ReadonlyMap<string, string>): string[] {
  const wanted = [...secrets].flatMap(([place, secret]) =>
    piecesOf(secret).map((piece) => ({ place, piece })),
  );
  const found = new Set<string>();
  for (const { path, text } of files)
    for (const [how, reading] of readingsOf(text))
      for (const { place, piece } of wanted)
        if (reading.includes(piece)) found.add(`${place} in ${path} (${how})`);
  return [...found];
}

function readingsOf(text: string): [string, string][] {
  const plain = text
    .replace(/%([0-9a-f]{2})|\\+u00([0-9a-f]{2})/gi, (_, a, b) =>
      String.fromCharCode(Number.parseInt(a ?? b, 16)),
    )
    .replaceAll('\\', '')
    .replaceAll('\0', '');
  const base64 = [...text.matchAll(/[A-Za-z0-9+/_-]{12,}/g)].flatMap(([run]) =>
    [0, 1, 2, 3].map((phase) => Buffer.from(run.slice(phase), 'base64').toString('latin1')),
  );
  const hex = [...text.matchAll(/(?:[0-9a-f]{2}[ :]?){9,}/gi)].map(([run]) =>
    Buffer.from(run.replace(/[ :]/g, ''), 'hex').toString('latin1'),
  );
  return [
    ['as it is', text],
    ['without escapes', plain],
    ['from base64', base64.join('\n')],
    ['from hexadecimal', hex.join('\n')],
    ['backwards', [...text.slice(0, 1 << 20)].reverse().join('')],
  ];
}
