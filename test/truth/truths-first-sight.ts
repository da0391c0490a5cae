/**
 * Of 43 deaths of agents, servers, tests, builds and command lines whose truth was written down before the first of them was run: those
 * that were told wrongly or incompletely at first sight.
 */
import type { Truth } from './truths.ts';

export const firstSightTruths: readonly Truth[] = [
  {
    name: 'the reader of the output ends, and a pipeline hands on what it gets',
    quick: true,
    program: `writeFileSync('child.mjs', \`import { Readable } from 'node:stream'; import { pipeline } from 'node:stream/promises';
function* rows() { for (let n = 0; n < 1e5; n++) yield 'row ' + n + ' '.repeat(100) + '\\\\n'; }
await pipeline(Readable.from(rows()), process.stdout);\`);
await once(spawn('sh', ['-c', process.execPath + ' child.mjs | head -n 1'], { stdio: 'ignore' }), 'exit'); note('end', { code: 1, of: 'child.mjs' });`,
    kind: 'uncaught-exception',
    cause: [
      /write EPIPE, likely on process\.stdout at child\.mjs:3:1/,
      /Whoever read process\.stdout had closed/,
    ],
    never: [/request/],
  },
  {
    name: 'the connection of a server breaks, and not its output',
    program: `console.log('begin'); await delay(20); note('throws');
throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE', errno: -32, syscall: 'write' });`,
    kind: 'uncaught-exception',
    cause: [/write EPIPE at victim\.mjs:\d+/],
    never: [/on process\.std/],
  },
  {
    name: 'a worker ends itself by process.exit',
    quick: true,
    program: `writeFileSync('import.mjs', "setTimeout(function finish() { process.exit(4); }, 20);");
const worker = new Worker(new URL('./import.mjs', import.meta.url)); await once(worker, 'exit');`,
    kind: 'worker-death',
    cause: [
      /Worker thread \d \(import\.mjs\) ended itself by process\.exit\(4\) at import\.mjs:1:\d+/,
      /process\.exit ends only the thread/,
    ],
    never: [/the process ends with it/, /worker\.terminate/],
  },
  {
    name: 'a tool runs the code of the program, prints its error and exits',
    quick: true,
    env: { AGENTDUMP_EXITS: 'all' },
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/pack');
writeFileSync('plugin.mjs', "export function transform() { throw new Error('no licence header in src/components/checkout/forms/entry.js'); }");
writeFileSync('node_modules/pack/index.mjs', "export const run = async (file) => { const { transform } = await import(file); try { transform(); } catch (error) { console.error(error); process.exit(1); } };");
const { run } = await import('./node_modules/pack/index.mjs');
note('printed', { message: 'no licence header in src/components/checkout/forms/entry.js', in: 'transform' }); note('exit', { code: 1 });
await run('../../plugin.mjs');`,
    kind: 'exit',
    cause: [/process\.exit\(1\) by pack after Error: no licence header in… at plugin\.mjs:1:\d+/],
  },
  {
    name: 'a message that is a list of issues',
    frameworks: 'agents',
    program: `const { z } = await ofAgents('zod'); note('throws');
z.object({ amount: z.number(), to: z.string() }).parse({ amount: '12,50', to: null });`,
    kind: 'uncaught-exception',
    cause: [/ZodError: amount: .*expected number.*… at victim\.mjs:\d+/],
    never: [/^. ZodError: \[/],
  },
  {
    name: 'a command fails, and its caller is the only one that awaits',
    program: `const { exec } = await import('node:child_process'); const { promisify } = await import('node:util');
async function restore(file) { return promisify(exec)('gunzip -c ' + file); }
writeFileSync('backup.gz', 'no gzip'); note('throws'); await restore('backup.gz');`,
    kind: 'uncaught-exception',
    cause: [/Error: Command failed: gunzip -c backup\.gz from victim\.mjs:\d+/, /not in gzip format/],
    never: [/Error \[1\]/, /whose await passed it on/],
  },
  {
    name: 'a package loses the callers of a function that a module awaits',
    quick: true,
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/pack');
writeFileSync('node_modules/pack/index.mjs', "export const invoke = () => new Promise((_, no) => setTimeout(() => no(new Error('quota exceeded')), 10));");
writeFileSync('chain.mjs', \`import { invoke } from './node_modules/pack/index.mjs';
export async function classify(mail) {
  const message = await invoke(mail);
  return { text: message.content };
}\`);
writeFileSync('child.mjs', \`import { classify } from './chain.mjs';
console.log(await classify('buy now'));\`);
[process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit');`,
    kind: 'uncaught-exception',
    cause: [
      /quota exceeded, likely at chain\.mjs:3:19/,
      /child\.mjs:2:13 is the only top-level await .* Likely through the only await in classify \(chain\.mjs:3:19\)/,
      /❯ 3 │ const message = await invoke/,
    ],
  },
  {
    name: 'a function with two awaits, of which one passed the error on',
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('node_modules/pack');
writeFileSync('node_modules/pack/index.mjs', "export const invoke = () => new Promise((_, no) => setTimeout(() => no(new Error('quota exceeded')), 10));");
writeFileSync('child.mjs', \`import { invoke } from './node_modules/pack/index.mjs';
async function classify(mail) { await null; return await invoke(mail); }
console.log(await classify('buy now'));\`);
[process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit');`,
    kind: 'uncaught-exception',
    cause: [/quota exceeded, likely at child\.mjs:3:13/],
    never: [/Likely through/],
  },
  {
    name: 'the program calls its functions by the names of the tools, and one throws',
    quick: true,
    replies: [
      {
        tools: [
          { id: 'call_1', name: 'book_seat', arguments: '{}' },
          { id: 'call_2', name: 'rent_car', arguments: '{}' },
        ],
      },
    ],
    program: `const tools = {
  async book_seat() { note('tool.begin', { name: 'book_seat' }); await delay(30); note('tool.threw', { name: 'book_seat' }); throws('12A is taken'); },
  async rent_car() { await delay(60_000); },
};
const reply = await ask(); await Promise.all(reply.choices[0].message.tool_calls.map((call) => tools[call.function.name]()));`,
    kind: 'uncaught-exception',
    cause: [
      /12A is taken/,
      /tool book_seat \(call_1\), asked for [\d.]+ \w+ before the end, whose run was not recorded; a function of its name is on the stack/,
    ],
    never: [/tool rent_car [^.]*on the stack/],
  },
  {
    name: 'a queue hands the error of a job to its callback, which throws it',
    frameworks: 'servers',
    program: `const queue = ofServers('fastq')((job, done) => setTimeout(() => done(job.width > 0 ? null : new Error('width of ' + job.file + ' is 0')), 20), 2);
queue.push({ file: 'a.png', width: 9 }, finished); queue.push({ file: 'b.png', width: 0 }, finished);
function finished(error) { if (error) { note('throws', { message: error.message }); throw error; } }`,
    kind: 'uncaught-exception',
    cause: [/width of b\.png is 0/, /Created in Timeout\._onTimeout \(victim\.mjs:\d+/],
    never: [/Thrown in/],
  },
  {
    name: 'a time limit of the program itself, which has the name of another',
    quick: true,
    program: `class TimeoutError extends Error { name = 'TimeoutError'; }
const idle = AbortSignal.timeout(60_000);
const acquire = (ms) => new Promise((_, reject) => setTimeout(() => { note('throws'); reject(new TimeoutError('no client in ' + ms + ' ms')); }, ms));
void acquire(30); await delay(5_000, undefined, { signal: idle });`,
    kind: 'unhandled-rejection',
    cause: [/no client in 30 ms at victim\.mjs:\d+/, /A time limit ran out/],
    never: [/AbortSignal\.timeout (?:is called|at) /, /was aborted/, /Thrown in/],
  },
  {
    name: 'a plug-in of a server that adds a name twice at its start',
    frameworks: 'servers',
    program: `const app = ofServers('fastify')(); app.decorate('db', {});
app.register(Object.assign(async (instance) => { note('throws'); instance.decorate('db', {}); }, { [Symbol.for('skip-override')]: true }));
await app.listen({ port: 0 });`,
    kind: 'uncaught-exception',
    cause: [/The decorator 'db' has already been added! at victim\.mjs:\d+/],
    never: [/service failed/],
  },
  {
    name: 'an error of an event that a consumer awaits',
    program: `const { on } = await import('node:events'); const source = new EventEmitter();
setTimeout(() => source.emit('job', 1), 10);
setTimeout(() => { note('throws'); source.emit('error', new Error('broker closed the channel (320)')); }, 40);
for await (const [job] of on(source, 'job')) note('job', { job });`,
    kind: 'uncaught-exception',
    cause: [/broker closed the channel \(320\) at victim\.mjs:\d+/, /Created in/],
    never: [/Thrown in/],
  },
  {
    name: 'a file function of Node whose error has no stack',
    quick: true,
    program: `const { mkdirSync } = await import('node:fs'); mkdirSync('build');
writeFileSync('import.mjs', "import { rm } from 'node:fs/promises';\\nasync function clean(folder) { await rm(folder); }\\nawait clean('build');");
note('throws'); await import('./import.mjs');`,
    kind: 'uncaught-exception',
    cause: [/Path is a directory/, /import\.mjs:3:1|import\.mjs:2:\d+/],
  },
  {
    name: 'a server that is asked to stop, and gives up waiting for a request',
    quick: true,
    signal: 'SIGTERM',
    program: `const { createServer: listen, get } = await import('node:http');
const web = listen((request, response) => { note('request.begin', { name: 'GET /export' }); response.write('a,b\\n'); }).listen(0, '127.0.0.1');
await once(web, 'listening');
process.on('SIGTERM', () => { web.close(); setTimeout(() => { note('exit', { code: 1 }); process.exit(1); }, 300); });
get({ host: '127.0.0.1', port: web.address().port, path: '/export' }, (reply) => reply.once('data', ready)).on('error', () => {});`,
    kind: 'terminated',
    cause: [
      /SIGTERM/,
      /1 request was in flight, GET \/export/,
      /the process ended [\d.]+ m?s later with exit code 1/,
    ],
  },
  {
    name: 'a job that gives its error the status of a web API',
    quick: true,
    program: `class JobError extends Error { constructor(message, status) { super(message); this.status = status; } }
const jobs = [async () => 1, async () => { note('throws'); throw new JobError('invoice 7 is a duplicate', 429); }];
(async () => { for (const job of jobs) await job(); })();`,
    kind: 'unhandled-rejection',
    cause: [/invoice 7 is a duplicate at victim\.mjs:\d+/],
    never: [/limits the rate/],
  },
  {
    name: 'a module that imports a name which another one does not export',
    quick: true,
    program: `writeFileSync('format.mjs', 'export const formatDate = (day) => day;');
writeFileSync('child.mjs', "import { formatTime } from './format.mjs';\\nconsole.log(formatTime());"); 
[process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit');`,
    kind: 'startup-failure',
    cause: [
      /format\.mjs has no export formatTime, imported in child\.mjs:1/,
      /❯ 1 │ import \{ formatTime \}/,
    ],
  },
  {
    name: 'an import of JSON that lacks its attribute',
    program: `writeFileSync('settings.json', '{}');
writeFileSync('child.mjs', "import settings from './settings.json';\\nconsole.log(settings);");
[process.exitCode] = await once(spawn(process.execPath, ['child.mjs'], { stdio: 'ignore' }), 'exit');`,
    kind: 'startup-failure',
    cause: [/The import of settings\.json lacks its attribute/],
  },
];
