/** The documents for users, and the command lines in them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Files below `dir` with this name or suffix. */
export function filesBelow(dir: string, ending: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return filesBelow(path, ending);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}

export const guides: readonly string[] = [join(root, 'README.md'), ...filesBelow(join(root, 'docs'), '.md')];

/** The lines of fenced blocks. */
function codeLines(text: string): string[] {
  const lines: string[] = [];
  let isCode = false;
  for (const line of text.split('\n'))
    if (/^\s*```/.test(line)) isCode = !isCode;
    else if (isCode) lines.push(line);
  return lines;
}

/** The shell commands in fenced blocks: `agentdump …` and `node …`, including the variables set in front of them. */
export function shellLines(text: string): string[] {
  return codeLines(text).flatMap((line) => {
    const words =
      /^(?:[$>] +|- +run: +)?((?:[A-Z_]+=(?:"[^"]*"|\S+) +)*(?:(?:npx +)?agentdump|node)(?: .*)?)$/.exec(
        line.trim(),
      )?.[1];
    return words === undefined ? [] : [words];
  });
}

/** Every `agentdump …` command that a document shows, in a fenced block or as inline code, without a trailing comment. */
export function commandLines(text: string): string[] {
  const blocks = shellLines(text).flatMap((line) => {
    const words = /^(?:[A-Z_]+=\S+ +)*(?:npx +)?(agentdump(?: .*)?)$/.exec(line)?.[1];
    return words === undefined ? [] : [words];
  });
  const prose = text.replace(/^\s*```[\s\S]*?^\s*```/gm, '');
  const inline = [...prose.matchAll(/`(?:npx )?(agentdump [^`\n]+)`/g)].map(([, words = '']) => words);
  return [...blocks, ...inline].map((line) => line.replace(/ +#.*$/, ''));
}
