// Removes from dist/ what tsc wrote and nobody can load: modules of which only bundled copies run, and their declarations.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * From what package.json exports and from the files that tsc did not write, such as bundles, follows the texts that name
 * a file: what is imported, what is found from `import.meta.url`, and the modules of threads.
 */
export function leaveOutUnused(root) {
  const dist = join(root, 'dist');
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const files = readdirSync(dist, { recursive: true }).map((name) => join(dist, name));
  const written = files.filter((file) => isWritten(file) && isOfTsc(file, root));
  const used = new Set();
  const waiting = [
    ...Object.values(exports).flatMap((entry) => Object.values(entry).map((path) => join(root, path))),
    ...files.filter((file) => /\.c?js$/.test(file) && !written.includes(file)),
  ];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (used.has(file) || !isWritten(file) || !statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
    used.add(file);
    waiting.push(...namedIn(file, dist));
  }
  for (const file of written) if (!used.has(file)) rmSync(file);
}

const isWritten = (file) => /\.(?:c?js|d\.c?ts)$/.test(file);

const isOfTsc = (file, root) => {
  const source = join(root, 'src', relative(join(root, 'dist'), file)).replace(/(?:\.d)?\.[jt]s$/, '.ts');
  return existsSync(source);
};

function namedIn(file, dist) {
  // Long lines are broken within texts, too.
  const text = readFileSync(file, 'utf8').replaceAll('\\\n', '');
  const isDeclaration = /\.d\.c?ts$/.test(file);
  const end = isDeclaration ? '.d.ts' : '.js';
  // A bundled module finds files from where it was compiled to (build-command-line.mjs).
  const place = /ownUrl\d*=new URL\("([^"]+)",import\.meta\.url\)/g;
  const folders = [file, ...[...text.matchAll(place)].map(([, own]) => resolve(dirname(file), own))].map(
    dirname,
  );
  return [...text.replace(place, '').matchAll(/(?<=["'`])[\w./-]+(?=["'`])/g)].flatMap(([name]) => {
    const path = name.replace(/\.[jt]s$/, '');
    // `startThread` takes the path below dist/.
    const found = path.startsWith('.') ? folders.map((folder) => resolve(folder, path)) : [join(dist, path)];
    return found.map((module) => `${module}${end}`);
  });
}
