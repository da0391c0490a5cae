/** Enforces the import rule of src/README.md on the import lines of every source file. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const src = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'src');

/**
 * What each room may import, besides itself, `errors`, `version` and `platform`. A name with a slash means that folder only.
 */
const allowed: Record<string, string[]> = {
  errors: [],
  version: [],
  platform: [],
  bytes: [],
  model: [],
  redaction: [],
  'bundle/layout': [],
  'journal/layout': [],
  'bundle/write': ['bytes', 'bundle/layout'],
  'bundle/keep': ['bundle/layout', 'bundle/write'],
  'journal/write': ['bytes', 'journal/layout'],
  'bundle/read': ['bytes', 'bundle/layout', 'bundle/write'],
  'bundle/finished': ['bundle/layout', 'bundle/write', 'bundle/read'],
  'journal/read': ['bytes', 'journal/layout'],
  capture: [
    'redaction',
    'bundle/layout',
    'bundle/write',
    'bundle/keep',
    'journal/layout',
    'journal/write',
    'agent',
    'testing',
  ],
  // model: the pure JSON Patch of json-patch.ts, which the state API records and analysis replays. bundle/layout/tests.ts:
  // what is recorded about tests.
  agent: ['redaction', 'bundle/layout', 'journal/layout', 'journal/write', 'model'],
  // model: the runner whose tests aren't seen, which the report names too.
  testing: ['bundle/layout', 'agent', 'model'],
  durable: [
    'redaction',
    'journal/layout',
    'journal/write',
    // A resumed run reads what its predecessor wrote.
    'journal/read',
    'agent',
  ],
  resume: ['journal/layout', 'journal/write', 'journal/read'],
  langgraph: ['journal/layout', 'journal/write', 'journal/read'],
  supervise: [
    'redaction',
    'bundle/layout',
    'bundle/write',
    'bundle/keep',
    'bundle/read',
    'bundle/finished',
    'journal/layout',
    'journal/write',
    'journal/read',
    'capture',
    'formats/writer',
  ],
  'formats/writer': ['bytes'],
  formats: ['bytes', 'formats/writer'],
  analysis: [
    'bytes',
    'model',
    'formats',
    'redaction',
    'bundle/layout',
    'bundle/read',
    'bundle/finished',
    'journal/layout',
    'journal/read',
    'formats/writer',
  ],
  report: ['model'],
  ci: [
    'model',
    'redaction',
    'bundle/layout',
    'bundle/write',
    'bundle/keep',
    'bundle/read',
    'bundle/finished',
    'journal/layout',
    'journal/write',
    'journal/read',
    'formats',
    'supervise',
    'analysis',
    'report',
  ],
  // durable: the lease of a folder, and the retries of a database.
  // redaction: of what a service counts without its bundle. formats: what starts threads. bundle/keep: what was started.
  store: [
    'model',
    'redaction',
    'bundle/layout',
    'bundle/write',
    'bundle/keep',
    'bundle/read',
    'bundle/finished',
    'durable',
    'formats',
    'analysis',
  ],
  // Its page is a separate program, which uses the sections of report/html.
  workbench: [
    'model',
    'bundle/layout',
    'bundle/write',
    'bundle/read',
    'bundle/finished',
    'formats',
    'analysis',
    'report',
    'store',
  ],
  replayed: [],
  replay: [
    'model',
    'redaction',
    'bundle/layout',
    'bundle/read',
    'bundle/finished',
    'journal/layout',
    'agent',
    'supervise',
    'analysis',
    'replayed',
  ],
  register: ['capture'],
  'register-tests': ['bundle/layout'],
  'find-preload': [],
  index: ['find-preload', 'capture', 'agent', 'durable', 'model', 'redaction', 'bundle/layout'],
  cli: [
    'bytes',
    'model',
    'redaction',
    'bundle/layout',
    'bundle/write',
    'bundle/keep',
    'bundle/read',
    'bundle/finished',
    'journal/layout',
    'journal/read',
    'formats',
    'capture',
    'agent',
    'durable',
    'supervise',
    'analysis',
    'report',
    'ci',
    'replay',
    'workbench',
    'store',
    'formats/writer',
  ],
};
const everybody = ['errors', 'version', 'platform'];
/** Rooms whose folders are checked one by one, because the preload contains only some of them. */
const splitRooms = new Set(['bundle', 'journal']);

function roomOf(file: string): string {
  const parts = relative(src, file)
    .replace(/\.(tsx?|js)$/, '')
    .split('/');
  const [room = '', second = '', third = ''] = parts;
  // The writing half of a format counts as a room, so that a writer of such files does not pull in a parser. So do kernel
  // structures that the writer of a core needs.
  const isLayout = third === 'layout' || third === 'signal-frame';
  if (room === 'formats' && (third.startsWith('write-') || isLayout)) return 'formats/writer';
  if (splitRooms.has(room)) return `${room}/${second}`;
  return room;
}

function* sourceFiles(dir: string): Generator<string> {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* sourceFiles(path);
    else if (/\.tsx?$/.test(name)) yield path;
  }
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import|import\()\s*['"](\.{1,2}\/[^'"]+)['"]/g)].map((m) =>
    resolve(dirname(file), m[1] ?? ''),
  );
}

test('no room imports what it must not know', () => {
  const broken: string[] = [];
  for (const file of sourceFiles(src)) {
    const room = roomOf(file);
    const may = allowed[room];
    if (!may) {
      broken.push(`${relative(src, file)}: the room "${room}" is not on the map`);
      continue;
    }
    for (const target of importsOf(file)) {
      const other = roomOf(target);
      if (other === room && !room.startsWith('formats')) continue;
      if (room.startsWith('formats') && other.startsWith('formats')) {
        const [, mine] = relative(src, file).split('/');
        const [, theirs] = relative(src, target).split('/');
        if (mine !== theirs)
          broken.push(`${relative(src, file)} imports another format, ${relative(src, target)}`);
        if (room === 'formats/writer' && other === 'formats')
          broken.push(`${relative(src, file)} writes, and imports the reader ${relative(src, target)}`);
        continue;
      }
      if (!may.includes(other) && !everybody.includes(other))
        broken.push(`${relative(src, file)} (${room}) imports ${relative(src, target)} (${other})`);
    }
  }
  assert.deepEqual(broken, []);
});

test('what the preload carries has no dependency outside Node', () => {
  const preloadRooms = new Set([
    'register',
    'platform',
    'replayed',
    'capture',
    'agent',
    'testing',
    'redaction',
    'bundle/layout',
    'bundle/write',
    'bundle/keep',
    'bundle/keep',
    'journal/layout',
    'journal/write',
  ]);
  const broken: string[] = [];
  for (const file of sourceFiles(src)) {
    if (!preloadRooms.has(roomOf(file))) continue;
    const text = readFileSync(file, 'utf8');
    for (const [, specifier = ''] of text.matchAll(/(?:from|require\()\s*['"]([^.'"][^'"]*)['"]/g))
      if (!specifier.startsWith('node:')) broken.push(`${relative(src, file)}: ${specifier}`);
  }
  assert.deepEqual(broken, []);
});

/**
 * A cycle of imports that is reachable from these files, as a path. Type imports count, because they couple two files too.
 */
function findCircle(files: Iterable<string>): string[] {
  const done = new Set<string>();
  for (const first of files) {
    const path: { file: string; left: string[] }[] = [];
    const enter = (file: string) => {
      done.add(file);
      path.push({ file, left: existsSync(file) ? importsOf(file) : [] });
    };
    if (!done.has(first)) enter(first);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.left.pop();
      const back = path.findIndex(({ file }) => file === next);
      if (next === undefined) path.pop();
      else if (back >= 0) return path.slice(back).map(({ file }) => relative(src, file));
      else if (!done.has(next)) enter(next);
    }
  }
  return [];
}

test('no file imports itself through others', () => {
  assert.deepEqual(findCircle(sourceFiles(src)), []);
});

/** About fifteen is the aim; a longer list than this is no longer read as one idea. */
const mostFilesInFolder = 20;

test('no folder is a long list, and each one of a larger room is on the map', () => {
  const map = readFileSync(join(src, 'README.md'), 'utf8');
  const count = new Map<string, number>();
  for (const file of sourceFiles(src)) count.set(dirname(file), (count.get(dirname(file)) ?? 0) + 1);
  const long = [...count].filter(([, files]) => files > mostFilesInFolder).map(([at]) => relative(src, at));
  assert.deepEqual(long, []);
  const rows = [...map.matchAll(/^\| `([\w/]+?)\/?` +\| (`[\w-]+\/`.*)\|$/gm)];
  for (const [, room = '', folders = ''] of rows)
    for (const [, folder = ''] of folders.matchAll(/`([\w-]+)\/`/g))
      assert.ok(existsSync(join(src, room, folder)), `src/README.md: ${room}/${folder} is not there`);
  const mapped = new Map(rows.map(([, room = '', folders = '']) => [room, folders]));
  const missing = [...count.keys()]
    .map((at) => relative(src, at))
    .filter(
      (at) => mapped.has(dirname(at)) && !mapped.get(dirname(at))?.includes(`\`${at.split('/').at(-1)}/\``),
    );
  assert.deepEqual(missing, []);
});
