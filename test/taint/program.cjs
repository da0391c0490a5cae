// Has a secret in every place where V8, Node and an agent keep data, then ends as its first word says. Copied for each run, with
// lines of source in place of the mark below; the rest comes as JSON in the file that TAINT names.
const { once } = require('node:events');
const { readdirSync, readFileSync } = require('node:fs');
const { createServer, request } = require('node:http');
const { spawn } = require('node:child_process');
const [how] = process.argv.slice(2);
// Behind a function, so that no name beside one of them comes from here.
const plant = (
  (all) => (place) =>
    all[place]
)(JSON.parse(readFileSync(process.env.TAINT, 'utf8')));
const plugin = require(plant('plugin'));
/* SOURCE */

const host = globalThis[Symbol.for('agentdump.host')];
host?.withhold(plant('withheld'));
host?.state.set('agent', {
  config: { apiKey: plant('state') },
  cache: new Map([[plant('stateMap'), 'by token']]),
});
host?.providers.set('environment', () => plant('provided'));

const privates = new WeakMap();
const kept = {
  map: new Map([[plant('mapKey'), 1]]),
  symbol: Symbol(plant('symbol')),
  named: { [plant('propertyName')]: true },
  providers: plant('providers').split(' '),
  closure: (
    (text) => () =>
      text
  )(plant('closure')),
  buffer: Buffer.from(plant('buffer')),
  encoded: Buffer.from(plant('encoded')).toString('base64'),
  withheld: `the same ${plant('withheld')} again`,
};
class Client {
  constructor(options, url) {
    this.options = options;
    this.url = url;
    privates.set(this, plant('weakMap'));
  }
}
Object.defineProperty(Client, 'name', { value: plant('className') });
const client = new Client(
  {
    config: { password: plant('configPassword') },
    connection: { user: 'app', password: plant('connectionPassword') },
  },
  plant('connectionUrl'),
);

function makeError() {
  const root = new Error(plant('causeOfCause'));
  const error = new AggregateError(
    [new Error(plant('aggregate'))],
    `${plant('message')}: ${plant('messageKey')}`,
    {
      cause: new Error(plant('cause'), { cause: root }),
    },
  );
  error.stack += `\n    at ${plant('stackLine')} (/srv/${plant('stackLine')}/index.js:1:1)`;
  return Object.assign(error, {
    config: {
      headers: { 'x-api-key': plant('propertyHeader') },
      auth: { password: plant('propertyPassword') },
    },
    body: plant('propertyBody'),
  });
}

/** A model that repeats the secrets which it is told. */
const server = createServer((req, res) => {
  req.resume().on('end', () => {
    res.setHeader('set-cookie', plant('replyCookie'));
    res.setHeader('content-type', 'application/json');
    if (req.headers['x-fail']) {
      res.statusCode = 401;
      res.end(JSON.stringify({ error: { message: plant('replyError'), type: 'invalid_request_error' } }));
      return;
    }
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'store', arguments: plant('replyArgument') },
    };
    const message = { role: 'assistant', content: plant('replyText'), tool_calls: [call] };
    res.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        model: 'mock',
        choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      }),
    );
  });
});

async function askModel(port, fails) {
  const body = JSON.stringify({ model: 'mock', messages: [{ role: 'user', content: plant('requestBody') }] });
  const headers = {
    'content-type': 'application/json',
    authorization: plant('requestHeader'),
    cookie: plant('requestCookie'),
    ...(fails ? { 'x-fail': '1' } : {}),
  };
  const asked = request({ port, path: plant('requestUrl'), method: 'POST', headers }).end(body);
  const [answer] = await once(asked, 'response');
  let text = '';
  for await (const chunk of answer) text += chunk;
  return text;
}

const ways = {
  throw: () => {
    throw makeError();
  },
  reject: () => Promise.reject(makeError()),
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  fault: () => {
    const { arm, crash } = require(process.env.TAINT_FAULT);
    arm('read-null');
    crash();
  },
  fill: () => {
    const filled = [];
    for (;;) filled.push(new Array(1000).fill(filled.length));
  },
  // Until the watchdog has written its bundle.
  hang: () => {
    const isTold = () =>
      readdirSync(process.env.AGENTDUMP_DIR).some((name) => /hang-\w+\.agentdump$/.test(name));
    for (const until = Date.now() + 60_000; Date.now() < until && !isTold(); );
    process.exit(0);
  },
  exit: () => process.exit(3),
  wait: async () => {
    console.log('ready');
    await new Promise((done) => setTimeout(done, 60_000, plant('timer')));
  },
};

/** The frame with the variables, on the stack when the program ends. */
function die(password, adminPassword, token, apiKey, authorization) {
  const request = { headers: { authorization }, auth: { password, token } };
  const { connection, config } = client.options;
  const end = () => ways[how](request, adminPassword, apiKey, connection, config);
  Object.defineProperty(end, 'name', { value: plant('functionName') });
  return end();
}

/** What is kept to be read by the next life; a value that looks like a secret may be refused. */
async function keep(agent) {
  const run = { id: 'taint', durable: true, config: { token: plant('durableConfig') } };
  await agent.run('kept', run, async () => {
    await agent.step('token', async () => ({ accessToken: plant('durableToken') })).catch(() => {});
    await agent.step('text', async () => `use ${plant('durableKey')}`).catch(() => {});
    await agent.tool('shell', { password: plant('durableArgument') }, async () => 'done').catch(() => {});
  });
}

async function main() {
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const { port } = server.address();
  console.log(plant('logOut'));
  console.error(plant('logError'));
  console.log(plant('providers'));
  process.stdout.write(`${plant('logRaw')}\n`);
  process.emitWarning(plant('warning'));
  const child = spawn(
    process.execPath,
    ['-e', 'console.error(process.argv[1]); process.exit(3)', plant('childOutput'), plant('childCommand')],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  child.stderr.resume();
  await once(child, 'close');
  process.title = plant('title');
  const { agent } = await import(process.env.TAINT_AGENT);
  Promise.reject(new Error(plant('rejected'))).catch(() => {});
  await keep(agent).catch(() => {});
  await agent.run(plant('runName'), { config: { apiKey: plant('runConfig') } }, () =>
    agent.step(plant('stepName'), async () => {
      agent.message('user', plant('question'));
      agent.message('assistant', plant('answer'));
      agent.note(plant('note'));
      await askModel(port, false);
      await askModel(port, true);
      await agent.tool('shell', { password: plant('toolArgument'), command: plant('toolText') }, async () =>
        plant('toolResult'),
      );
      await agent.tool('shell', { command: 'ls' }, async () => {
        await plugin.pause();
        await die(
          plant('localPassword'),
          plant('localWords'),
          plant('localToken'),
          plant('localKey'),
          plant('localHeader'),
        );
      });
    }),
  );
}
globalThis.kept = { kept, client };
const run = main();
if (how !== 'reject')
  run.catch((error) =>
    setImmediate(() => {
      throw error;
    }),
  );
