/** The tests that packages ship: each file is a program. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './program.ts';

/** How many files of a package are used, chosen by a hash of their names, so that no single package dominates. */
const mostOfOne = 8;
const folders = ['test', 'tests', 'spec'];

/** `room`: the folder in which they are installed. */
export function listSuites(room: string): Program[] {
  const { dependencies } = JSON.parse(readFileSync(join(room, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return Object.keys(dependencies).flatMap((name) => {
    const folder = join(room, 'node_modules', name);
    const files = findTests(folder).sort((a, b) => (drawn(name + a) < drawn(name + b) ? -1 : 1));
    return files.slice(0, mostOfOne).map((file): Program => programOf(folder, name, file));
  });
}

function programOf(folder: string, name: string, file: string): Program {
  const isMocha =
    /\bdescribe\(/.test(readFileSync(join(folder, file), 'utf8')) && !usesOwnDescribe(folder, file);
  return {
    name: `${name}: ${file}`,
    package: name,
    room: 'suites',
    copy: 'package',
    words: isMocha ? ['bin:mocha', '--timeout', '20000', file] : [file],
  };
}

const usesOwnDescribe = (folder: string, file: string): boolean =>
  /node:test|require\('test'\)/.test(readFileSync(join(folder, file), 'utf8'));

function findTests(folder: string): string[] {
  const here = folders.filter(
    (dir) => existsSync(join(folder, dir)) && statSync(join(folder, dir)).isDirectory(),
  );
  const inFolders = here.flatMap((dir) => readdirSync(join(folder, dir)).map((file) => `${dir}/${file}`));
  return ['test.js', ...inFolders].filter((file) => /\.[cm]?js$/.test(file) && isFile(join(folder, file)));
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

const drawn = (text: string): string => createHash('sha256').update(text).digest('hex');
