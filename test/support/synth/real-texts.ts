/**
 * Six kinds of real text, up to two megabytes each, generated on demand from what is installed in this checkout, so that
 * nobody's text is stored here. `source`: programs and Markdown as written; `minified`: bundles; `json`: package files, lock
 * files, schemas, data; `chat`: Markdown as messages of a model's API; `logs`: output of tools; `heap`: the strings of a heap
 * snapshot.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const wanted = 2 << 20;
/** The most characters that one file contributes; `mostOfTool` is the same for a tool. */
const mostOfOne = 96 << 10;
const mostOfTool = 400 << 10;

export type RealKind = 'logs' | 'json' | 'source' | 'minified' | 'heap' | 'chat';

export function makeRealTexts(): Record<RealKind, string> {
  const files = listFiles();
  const ending = (pattern: RegExp): string[] => files.filter((file) => pattern.test(file));
  return {
    logs: makeLogs(),
    json: sample(ending(/\.json$/)).join('\n'),
    source: sample(ending(/\.(?:[cm]?[jt]s|md)$/), (text) => longestLine(text) < 300).join('\n'),
    minified: sample(
      ending(/(?:\.min|[/]dist[/].*)\.[cm]?js$/),
      (text) => text.length > 400 * text.split('\n').length,
    ).join('\n'),
    heap: makeHeapStrings(),
    chat: makeChat(sample(ending(/\.md$/))),
  };
}

/** All files of the installed packages, in the same order on every machine with the same packages. */
function listFiles(): string[] {
  const files: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) files.push(path);
    }
  };
  const roots = [root, ...readdirSync(join(root, 'test')).map((name) => join(root, 'test', name))];
  for (const folder of roots) {
    const packages = join(folder, 'node_modules');
    if (existsSync(packages)) walk(packages);
  }
  return files.sort();
}

/** Texts of files from all parts of the list, until there are enough. */
function sample(files: string[], accept = (_: string): boolean => true): string[] {
  const texts: string[] = [];
  let length = 0;
  // A stride that has no common factor with most lengths visits each file once, far from the previous one.
  for (let n = 0; n < files.length && length < wanted; n++) {
    const file = files[(n * 7919) % files.length]!;
    if (statSync(file).size < 200) continue;
    const text = readFileSync(file, 'utf8').slice(0, mostOfOne);
    if (!accept(text)) continue;
    texts.push(text);
    length += text.length;
  }
  return texts;
}

const longestLine = (text: string): number =>
  text.split('\n').reduce((longest, line) => Math.max(longest, line.length), 0);

function makeChat(texts: string[]): string {
  return texts
    .flatMap((text) => text.split(/\n(?=#)/))
    .map((content, i) => JSON.stringify({ role: i % 2 ? 'assistant' : 'user', content }))
    .join('\n');
}

const run = (command: string, args: string[], environment: Record<string, string> = {}): string => {
  const { stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    maxBuffer: 1 << 28,
  });
  return `${stdout ?? ''}${stderr ?? ''}`.slice(0, mostOfTool);
};

/** A program that requests its own node:http server and prints a line for each request, as servers log it. */
const served = `
const http = require('node:http');
const server = http.createServer((request, response) => {
  const from = process.hrtime.bigint();
  response.setHeader('etag', 'W/"' + (request.url.length * 7919).toString(16) + '"');
  response.end('x'.repeat(request.url.length * 10), () => {
    const ms = Number(process.hrtime.bigint() - from) / 1e6;
    const { method, url, headers, socket } = request;
    console.log(JSON.stringify({ level: 30, time: Date.now(), pid: process.pid, req: { method, url, headers, remoteAddress: socket.remoteAddress, remotePort: socket.remotePort }, res: { statusCode: response.statusCode, headers: response.getHeaders() }, responseTime: ms, msg: 'request completed' }));
    console.log('127.0.0.1 - - [' + new Date().toUTCString() + '] "' + method + ' ' + url + ' HTTP/1.1" 200 ' + url.length * 10 + ' "-" "' + headers['user-agent'] + '"');
  });
}).listen(0, async () => {
  for (let i = 0; i < 700; i++)
    await (await fetch('http://127.0.0.1:' + server.address().port + '/api/v1/orders/' + i + '/items?page=' + (i % 9) + '&sort=created')).text();
  process.exit();
});`;

function makeLogs(): string {
  const node = process.execPath;
  const typescript = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return [
    run(node, ['-e', served]),
    run(node, ['-e', served], { NODE_DEBUG: 'http,net,stream' }),
    run(node, [typescript, '-p', 'src', '--noEmit', '--traceResolution']),
    run(node, ['--trace-gc', '--trace-gc-nvp', typescript, '--all']),
    run(node, ['--trace-opt', '--trace-deopt', typescript, '--version']),
    run(node, ['--test', '--test-reporter=tap', 'test/redaction/names/own-names.test.ts'], {
      NODE_OPTIONS: '--import tsx',
    }),
    run('git', ['log', '--stat', '--date=iso', '-n', '400']),
    run('npm', ['ls', '--all', '--long', '--loglevel', 'silly']),
    run('ls', ['-lR', 'node_modules']),
    existsSync('/var/log/dpkg.log') ? readFileSync('/var/log/dpkg.log', 'utf8').slice(0, mostOfTool) : '',
  ]
    .join('\n')
    .slice(0, wanted);
}

/** The strings of a program that has loaded a validator, a parsed program and some data, in V8's order. */
function makeHeapStrings(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-texts-'));
  try {
    const file = join(folder, 'heap.heapsnapshot');
    const program = `
      const read = (name) => require('node:fs').readFileSync(name, 'utf8');
      const source = read(require.resolve('acorn'));
      globalThis.kept = [require('ajv'), require('zod'), require('esbuild'), require('acorn').parse(source, { ecmaVersion: 'latest' })];
      for (const name of ['package-lock.json', 'package.json', 'biome.json']) kept.push(JSON.parse(read(name)));
      require('node:v8').writeHeapSnapshot(${JSON.stringify(file)});`;
    run(process.execPath, ['-e', program]);
    const { strings } = JSON.parse(readFileSync(file, 'utf8')) as { strings: string[] };
    return strings.join('\n').slice(0, wanted);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
