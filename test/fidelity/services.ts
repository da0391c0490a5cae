/**
 * Servers, clients of databases that don't run, loggers, pools, process managers, watchers, and tools that observe a program
 * beside us. The scripts in `project/services` are ours, the packages that they use are not.
 */
import type { Program, Step } from './program.ts';
import { usesByPackage } from './uses.ts';

const program = (
  of: string,
  name: string,
  words: readonly string[],
  more: Partial<Program> = {},
): Program => ({
  name: `${of}: ${name}`,
  package: of,
  room: 'services',
  copy: 'project',
  words,
  ...more,
});

const script = (of: string, file: string, ...words: string[]): Program =>
  program(of, [file, ...words].join(' '), [`services/${file}`, ...words]);

const servers: readonly Program[] = [
  script('express', 'express.mjs'),
  script('fastify', 'fastify.mjs'),
  script('koa', 'koa.mjs'),
  script('hono', 'hono.mjs'),
  script('node', 'bare-http.mjs'),
  script('polka', 'polka.mjs'),
  script('connect', 'connect.cjs'),
  script('ws', 'sockets.mjs'),
  script('socket.io', 'socket-io.mjs'),
  script('@apollo/server', 'graphql.mjs'),
  script('graphql-yoga', 'yoga.mjs'),
  script('aedes', 'broker.mjs'),
  script('axios', 'requests.mjs'),
];

const stopped: readonly Step[] = [
  { when: /(http:\/\/127\.0\.0\.1:\d+)/, get: '/package.json' },
  { when: /$/, get: '/not-there' },
  { when: /$/, signal: 'SIGINT' },
];

const commandLines: readonly Program[] = [
  program(
    'http-server',
    'serves and is stopped',
    ['bin:http-server', '-p', '0', '-a', '127.0.0.1', '--no-dotfiles'],
    {
      steps: stopped,
    },
  ),
  program('http-server', 'no such option', ['bin:http-server', '-p', 'x']),
  program('serve', 'serves and is stopped', ['bin:serve', '-l', 'tcp://127.0.0.1:0', '--no-clipboard'], {
    steps: [
      { when: /(http:\/\/127\.0\.0\.1:\d+)/, get: '/package.json' },
      { when: /$/, signal: 'SIGTERM' },
    ],
  }),
  program('serve', 'no such folder', ['bin:serve', 'not-there', '-l', 'x']),
  program('json-server', 'no such file', ['bin:json-server', 'not-there.json']),
  program('json-server', 'version', ['bin:json-server', '--version']),
  program('wait-on', 'a file that is there', ['bin:wait-on', 'package.json']),
  program('wait-on', 'a file that never comes', ['bin:wait-on', '-t', '700', 'not-there']),
  program(
    'dotenv-cli',
    'runs with a file',
    ['package:dotenv-cli/cli.js', '-e', '.env', 'node', '-p', 'process.env.A'],
    {
      files: { '.env': 'A=from a file\n' },
    },
  ),
  program('knex', 'a database that is not there', [
    'bin:knex',
    'migrate:latest',
    '--knexfile',
    'services/knexfile.cjs',
  ]),
  program('knex', 'makes a migration', [
    'bin:knex',
    'migrate:make',
    'first',
    '--knexfile',
    'services/knexfile.cjs',
  ]),
  program('typeorm', 'makes an entity', ['bin:typeorm', 'entity:create', 'src/order']),
  program('typeorm', 'no data source', ['bin:typeorm', 'migration:run', '-d', 'not-there.js']),
];

const refused = [
  'pg',
  'pg-pool',
  'mysql2',
  'mongodb',
  'redis',
  'ioredis',
  'nats',
  'mqtt',
  'typeorm',
  'knex',
  'kysely',
  'bullmq',
];
const clients: readonly Program[] = [
  ...refused.map((kind) => script(kind === 'pg-pool' ? 'pg' : kind, 'refused.mjs', kind)),
  script('@electric-sql/pglite', 'databases.mjs'),
];

const libraries: readonly Program[] = [
  ...['winston', 'pino', 'pino-transport', 'bunyan', 'log4js'].map((kind) =>
    script(kind.replace('-transport', ''), 'loggers.cjs', kind),
  ),
  script('piscina', 'pools.mjs', 'piscina'),
  script('tinypool', 'pools.mjs', 'tinypool'),
  script('tinypool', 'pools.mjs', 'tinypool', 'child_process'),
  script('workerpool', 'pools.mjs', 'workerpool'),
  script('workerpool', 'pools.mjs', 'workerpool', 'process'),
  script('execa', 'children.mjs'),
  script('node-cron', 'scheduled.cjs'),
  script('chokidar', 'watched.mjs'),
];

const nodemon = ['bin:nodemon', '--quiet', '--watch', 'src', '--exitcrash'];
const managers: readonly Program[] = [
  program('nodemon', 'a program that falls', [...nodemon, 'services/falls.cjs']),
  program(
    'nodemon',
    'restarts by a changed file, and is stopped',
    ['bin:nodemon', '--watch', 'src', 'services/application.cjs'],
    {
      steps: [
        { when: /began/, write: { file: 'src/math.js', text: '// changed\n' } },
        { when: /began/, signal: 'SIGINT' },
      ],
    },
  ),
  program('nodemon', 'restarts by hand', ['bin:nodemon', '--watch', 'src', 'services/application.cjs'], {
    steps: [
      { when: /began/, signal: 'SIGHUP' },
      { when: /began/, signal: 'SIGTERM' },
    ],
  }),
  program(
    'nodemon',
    'an own signal for restarts',
    ['bin:nodemon', '--signal', 'SIGINT', '--watch', 'src', 'services/application.cjs'],
    {
      steps: [
        { when: /began/, write: { file: 'src/math.js', text: '// changed\n' } },
        { when: /began/, signal: 'SIGINT' },
      ],
    },
  ),
  program('node --watch', 'restarts by a changed file', ['--watch', 'services/application.cjs'], {
    steps: [
      { when: /began/, write: { file: 'services/application.cjs', text: "console.log('began anew');\n" } },
      { when: /began anew/, signal: 'SIGINT' },
    ],
  }),
  program('pm2', 'starts, lists and ends', ['pm2-session.cjs'], {
    files: {
      'pm2-session.cjs': sessionOf('pm2', [
        'start services/application.cjs --name app',
        'pid app',
        'stop app',
        'delete app',
        'kill',
      ]),
    },
  }),
  program('pm2', 'starts one that falls', ['pm2-session.cjs'], {
    files: {
      'pm2-session.cjs': sessionOf('pm2', [
        'start services/falls.cjs --name app --no-autorestart',
        'delete app',
        'kill',
      ]),
    },
  }),
  program('pm2', 'in the foreground', ['bin:pm2-runtime', 'start', 'services/application.cjs'], {
    steps: [{ when: /began/, signal: 'SIGINT' }],
  }),
  program('pm2', 'a cluster', ['pm2-session.cjs'], {
    files: {
      'pm2-session.cjs': sessionOf('pm2', [
        'start services/application.cjs -i 2',
        'reload all',
        'delete all',
        'kill',
      ]),
    },
  }),
  program('forever', 'in the foreground', [
    'bin:forever',
    '-m',
    '2',
    '--minUptime',
    '10',
    '--spinSleepTime',
    '10',
    'services/falls.cjs',
  ]),
  program(
    'onchange',
    'runs once',
    ['bin:onchange', '-i', '-k', 'src/*.js', '--', 'node', 'services/application.cjs'],
    {
      steps: [{ when: /began/, signal: 'SIGTERM' }],
    },
  ),
  program('chokidar-cli', 'version', ['package:chokidar-cli/index.js', '--version']),
];

/** A program that calls a command line of the room several times, and prints how each call ended. */
function sessionOf(bin: string, calls: readonly string[]): string {
  return `const { spawnSync } = require('node:child_process');
const { join } = require('node:path');
for (const call of ${JSON.stringify(calls)}) {
  const path = join(process.env.FIDELITY_BIN, ${JSON.stringify(bin)});
  const { status, signal } = spawnSync(process.execPath, [path, ...call.split(' ')], { encoding: 'utf8' });
  console.log(call, status, signal);
}
`;
}

const beside = {
  '@sentry/node': './services/sentry.cjs',
  'dd-trace': 'package:dd-trace/init.js',
  '@opentelemetry/sdk-node': './services/opentelemetry.cjs',
  newrelic: 'package:newrelic/index.js',
  'elastic-apm-node': 'package:elastic-apm-node/start.js',
  'source-map-support of ts-node': 'package:ts-node/register/index.js',
  tsx: 'package:tsx/dist/preflight.cjs',
};
const quiet = {
  DD_TRACE_AGENT_URL: 'http://127.0.0.1:9',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_TRACE_STARTUP_LOGS: 'false',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  OTEL_TRACES_EXPORTER: 'console',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
  NEW_RELIC_NO_CONFIG_FILE: 'true',
  NEW_RELIC_ENABLED: 'true',
  NEW_RELIC_APP_NAME: 'fidelity',
  NEW_RELIC_LICENSE_KEY: '0123456789012345678901234567890123456789',
  NEW_RELIC_HOST: '127.0.0.1',
  NEW_RELIC_PORT: '9',
  NEW_RELIC_LOG: 'stdout',
  NEW_RELIC_LOG_LEVEL: 'fatal',
  ELASTIC_APM_SERVER_URL: 'http://127.0.0.1:9',
  ELASTIC_APM_SERVICE_NAME: 'fidelity',
  ELASTIC_APM_LOG_LEVEL: 'off',
};
const watched: readonly Program[] = Object.entries(beside).flatMap(([of, module]) =>
  ['throws', 'rejects', 'exits', 'signal', 'ends'].map((kind) =>
    program(of, `beside us, ${kind}`, ['--require', module, 'services/watched-by.cjs', kind], { env: quiet }),
  ),
);

export function listServices(): Program[] {
  return [...servers, ...commandLines, ...clients, ...libraries, ...managers, ...watched, ...usesByPackage];
}
