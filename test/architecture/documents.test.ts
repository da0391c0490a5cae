/**
 * Checks the documents against the code: their links, and the commands, options, variables and scripts that they name. Its
 * folder makes it run together with imports.test.ts, before a change that adds a command or a variable lands.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/capture/install/config.ts';
import { ciDiffHelp } from '../../src/cli/commands/ci-diff.ts';
import { examples } from '../../src/cli/examples.ts';
import { completionCommand } from '../../src/cli/main.ts';
import { commands } from '../../src/cli/registry.ts';
import yargs from '../../src/cli/yargs.ts';
import { commandLines, filesBelow, guides } from '../support/system/guides.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

const read = (file: string): string => readFileSync(file, 'utf8');
const named = (file: string): string => relative(root, file);

const documents = [...guides, ...filesBelow(join(root, 'src'), '.md')];
const packageScripts = Object.keys(JSON.parse(read(join(root, 'package.json'))).scripts);

const withoutCode = (text: string): string =>
  text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchors that GitHub generates from headings: lower case, no punctuation, a hyphen for each blank. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').matchAll(/^#{1,6} +(.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    let free = anchor;
    for (let n = 1; anchors.has(free); n++) free = `${anchor}-${n}`;
    anchors.add(free);
  }
  return anchors;
}

/** The broken relative links of a document, each with its fault. */
function brokenLinks(file: string): string[] {
  return [...withoutCode(read(file)).matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const to = path ? resolve(dirname(file), path) : file;
    if (!existsSync(to)) return [`${named(file)}: ${target} leads nowhere`];
    if (anchor === undefined) return [];
    if (!to.endsWith('.md')) return [`${named(file)}: ${target} names a heading of what has none`];
    return anchorsOf(read(to)).has(anchor) ? [] : [`${named(file)}: ${target} names no heading`];
  });
}

test('links and anchors lead somewhere', () => {
  assert.deepEqual(documents.flatMap(brokenLinks), []);
});

test('every page is in the index, and begins with a command', () => {
  const index = read(join(root, 'docs', 'README.md'));
  for (const file of guides.slice(1)) {
    const [, fence, line] = /^# .+\n\n(```\w*)\n(.+)\n/.exec(read(file)) ?? [];
    assert.ok(fence && line, `${named(file)} begins with no command`);
    if (basename(file) !== 'README.md') assert.ok(index.includes(`](${basename(file)})`), named(file));
  }
});

test('README.md is short', () => {
  const lines = read(join(root, 'README.md')).trimEnd().split('\n').length;
  assert.ok(lines <= 150, `${lines} lines`);
});

/**
 * The options of a command: those that are declared to yargs, or, for commands that parse their own arguments, those in their
 * help.
 */
async function optionsOf(name: string, second: string | undefined): Promise<ReadonlySet<string>> {
  const entry = commands.find((candidate) => candidate.name === name);
  assert.ok(entry, `there is no command ${name}`);
  const { default: command } = await entry.load();
  const help = name === 'ci' && second === 'diff' ? ciDiffHelp : await entry.ownHelp?.();
  if (help !== undefined)
    return new Set([...help.matchAll(/--([a-z][a-z-]*)/g)].map(([, option = '']) => option));
  assert.ok(command.builder ?? !entry.loadLean, `${name} reads its own words: give it an ownHelp`);
  const probe = yargs();
  if (typeof command.builder === 'function') command.builder(probe as never);
  else if (command.builder) probe.options(command.builder);
  const { key } = (probe as unknown as { getOptions(): { key: object } }).getOptions();
  return new Set([...Object.keys(key), 'help', 'version']);
}

/** The fault of a command line, undefined if it has none. What follows ` -- ` belongs to another program and is ignored. */
async function faultOf(line: string): Promise<string | undefined> {
  const [own = ''] = line.split(/ -- | \| /);
  const [, name = '', second] = own.split(/\s+/);
  if (name === '' || name.startsWith('-') || name === '<command>' || name === completionCommand)
    return undefined;
  // For `agentdump approve | reject` only the first command's options are checked.
  if (!commands.some((entry) => entry.name === name)) return `there is no command ${name}`;
  const options = await optionsOf(name, second);
  const unquoted = own.replace(/'[^']*'|"[^"]*"/g, 'text');
  for (const [, option = ''] of unquoted.matchAll(/(?<=\s|\[)--([a-z][a-z-]*)/g))
    if (!options.has(option) && !options.has(option.replace(/^no-/, '')))
      return `${name} has no option --${option}`;
  return undefined;
}

test('every command and option that is shown exists', async () => {
  const faults: string[] = [];
  let looked = 0;
  for (const file of documents)
    for (const line of commandLines(read(file))) {
      looked++;
      const fault = await faultOf(line);
      if (fault) faults.push(`${named(file)}: ${line}: ${fault}`);
    }
  assert.deepEqual(faults, []);
  assert.ok(looked > 100, `${looked} command lines were found`);
});

test('the examples in the help are of their command, with options that it has', async () => {
  for (const [name, rows] of Object.entries(examples))
    for (const [words, about] of rows) {
      assert.match(words, new RegExp(`^${name}( |$)`));
      assert.ok(about, words);
      assert.equal(await faultOf(`agentdump ${words}`), undefined, words);
    }
});

test('a check of a command line that is wrong says so', async () => {
  assert.equal(await faultOf('agentdump analyse latest'), 'there is no command analyse');
  assert.equal(await faultOf('agentdump analyze latest --jsn'), 'analyze has no option --jsn');
  assert.equal(
    await faultOf('agentdump run --restrat always -- node --inspect a.js'),
    'run has no option --restrat',
  );
  assert.equal(await faultOf('agentdump ci diff --hang-after 5m'), 'ci has no option --hang-after');
});

test('every command is in the guides', () => {
  const text = guides.map(read).join('\n');
  for (const { name } of commands)
    assert.ok(new RegExp(`\`?agentdump ${name}\\b`).test(text), `no guide shows agentdump ${name}`);
});

/** Names of variables that the code reads or sets: in quotes, as keys, and those that readConfig asks for. */
function variablesOfCode(): Set<string> {
  const names = new Set<string>();
  const asked = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_, name) => {
        if (typeof name === 'string' && name.startsWith('AGENTDUMP')) names.add(name);
        return undefined;
      },
    },
  );
  readConfig(asked, null, () => {});
  // Functions and constants that the build puts into the preload have such names, too.
  const compiledIn = new Set<string>();
  const sources = filesBelow(join(root, 'src'), '.ts').map((file) =>
    read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
  );
  for (const source of sources)
    for (const [, name = ''] of source.matchAll(/\bdeclare (?:const|function) (AGENTDUMP\w*)/g))
      compiledIn.add(name);
  for (const source of sources)
    for (const [, quoted, key] of source.matchAll(
      /['"](AGENTDUMP(?:_[A-Z]+)*)['"]|\b(AGENTDUMP(?:_[A-Z]+)*):/g,
    )) {
      const name = quoted ?? key ?? '';
      if (!compiledIn.has(name)) names.add(name);
    }
  return names;
}

const variablesIn = (text: string): Set<string> => new Set(text.match(/\bAGENTDUMP(?:_[A-Z]+)*\b/g) ?? []);

test('the variables of the guides and of the code are the same', () => {
  const known = variablesOfCode();
  assert.ok(known.has('AGENTDUMP_HANG_MS') && known.has('AGENTDUMP_RUN_KEY'), [...known].join(' '));
  const unknown = guides.flatMap((file) =>
    [...variablesIn(read(file))].filter((name) => !known.has(name)).map((name) => `${named(file)}: ${name}`),
  );
  assert.deepEqual(unknown, []);
  const page = variablesIn(read(join(root, 'docs', 'configuration.md')));
  assert.deepEqual(
    [...known].filter((name) => !page.has(name)),
    [],
  );
});

test('every npm script and every file that the documents name is there', () => {
  const missing: string[] = [];
  for (const file of documents) {
    const text = read(file);
    for (const [, name = ''] of text.matchAll(/\bnpm run ([a-z][\w:-]*)/g))
      if (!packageScripts.includes(name)) missing.push(`${named(file)}: npm run ${name}`);
    for (const [, path = ''] of text.matchAll(/`((?:src|test|fixtures)\/[\w./-]+)`/g))
      if (!isThere(join(root, path))) missing.push(`${named(file)}: ${path}`);
  }
  assert.deepEqual(missing, []);
});

/** A path may be a prefix that several files share: `test/ci/matrix-<name>.test.ts` is written as `test/ci/matrix-`. */
function isThere(path: string): boolean {
  if (existsSync(path)) return statSync(path).isFile() || statSync(path).isDirectory();
  const folder = dirname(path);
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(basename(path)));
}
