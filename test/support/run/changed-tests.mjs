// Which test files a change touches, by the graph of imports: `npm run test:changed` (what is not committed, else the last
// commit), `npm run test:changed -- --since REV`. A test that runs the built program imports little of it: such tests are
// taken from the room of the change alone, and `npm test` has the rest.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Paths from the root, of what changed in the working tree against `since`. */
export function changedFiles(root, since) {
  const git = (...words) =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const untracked = git('ls-files', '--others', '--exclude-standard');
  const against = (revision) => git('diff', '--name-only', '--no-renames', revision);
  if (since) return [...against(since), ...untracked];
  const open = [...against('HEAD'), ...untracked];
  return open.length ? open : git('diff', '--name-only', '--no-renames', 'HEAD~1', 'HEAD');
}

/** Of `testFiles` (paths from the root) those that `changed` reaches, and how many run the program and were left out. */
export function touchedTests(root, testFiles, changed) {
  const wanted = new Set(changed.map((path) => join(root, path)));
  const rooms = new Set(changed.flatMap((path) => roomOf(path)));
  const { look, reaches } = importGraph(root);
  let leftOut = 0;
  const touched = testFiles.filter((path) => {
    const seen = new Set();
    if (reaches(path, wanted, seen)) return true;
    if (![...seen].some((file) => look(file).runsBuilt)) return false;
    if (roomOf(path).some((room) => rooms.has(room))) return true;
    leftOut++;
    return false;
  });
  return { touched, leftOut };
}

function importGraph(root) {
  const tests = join(root, 'test');
  const read = new Map();
  const look = (file) => {
    const known = read.get(file);
    if (known) return known;
    const text = existsSync(file) && !statSync(file).isDirectory() ? readFileSync(file, 'utf8') : '';
    const imports = [...text.matchAll(/['"`](\.{1,2}\/[^'"`\n?]+)/g)].map((m) =>
      resolve(dirname(file), m[1]),
    );
    const found = {
      imports,
      runsBuilt: file.startsWith(tests) && /'dist'|'bin'|\bdist\/|bin\/agentdump/.test(text),
    };
    read.set(file, found);
    return found;
  };
  /** Whether a file, or one that it imports, is among those; `seen` takes what was looked at. */
  const reaches = (path, wanted, seen) => {
    seen.add(join(root, path));
    for (const file of seen) {
      if (wanted.has(file)) return true;
      for (const next of look(file).imports) if (next.startsWith(root)) seen.add(next);
    }
    return false;
  };
  return { look, reaches };
}

/** `src/capture/heap/walk.ts` and `test/capture/x.test.ts`: `capture`. */
function roomOf(path) {
  const [top, room, file] = path.split('/');
  return (top === 'src' || top === 'test') && file !== undefined ? [room] : [];
}
