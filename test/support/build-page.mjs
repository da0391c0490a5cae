// Builds the page of `analyze --html` into two texts, its program and its style, which the renderer puts into each file.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = join(root, 'src', 'report', 'html');
/** What is bundled, for the notice that its licence asks for: a page is a copy of it. */
const bundled = ['preact', '@preact/signals', '@preact/signals-core'];

/** Writes `page.js` and `page.css` into `outdir`, and the licences of what they hold. */
export async function buildPage(outdir) {
  const licences = bundled.map((name) => ({
    name,
    text: readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8'),
  }));
  const notices = licences.map(({ name, text }) => `${name}, MIT: ${/Copyright.*/.exec(text)?.[0]}`);
  await build({
    entryPoints: [
      { in: join(source, 'main.tsx'), out: 'page' },
      { in: join(source, 'styles', 'main.css'), out: 'page' },
    ],
    outdir,
    tsconfig: join(source, 'tsconfig.json'),
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    banner: { js: `/* ${notices.join('; ')} */` },
  });
  writeFileSync(
    join(outdir, 'page.LICENSES.txt'),
    licences.map(({ name, text }) => `${name}\n\n${text}`).join('\n---\n\n'),
  );
}
